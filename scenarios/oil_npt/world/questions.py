"""What people type into the "ask your wells" box."""

QUESTIONS = (
    "How many hours did {rig} lose to repairs in {month}?",
    "Which rig had most stops this week?",
    "What stopped {rig} yesterday?",
    "How often did the top drive fail on {rig} this year?",
    "Show me the longest stop of {month}",
    "Hours waiting on weather, all rigs, {month}",
    "Is {rig} drilling?",
    "When was the last pump repair on {rig}?",
    "Compare {rig} with the other rigs of its contractor for {month}",
    "What did we claim for {rig} last month?",
    "How deep is {rig}?",
    "List every stop on {day}",
    "Which item costs us most hours?",
    "losses on {rig} in {month}??",
    "Why was {rig} down last night",
    "Wie viele Stunden stand {rig} im {month}?",
    "哪台钻机本月停机最多？",
    "What is NPT",
    "Please give me the daily report of {rig} for {day}",
    "Average repair time, drawworks, all rigs",
)
