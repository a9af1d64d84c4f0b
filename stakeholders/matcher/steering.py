"""Messages that try to steer the person instead of asking: told to say something, to pretend, to print the script.

A classifier learns the voice of such messages; these patterns catch those that wrap the right words of a topic in an
order. They are narrow on purpose: a false alarm costs a person a rephrasing.
"""

from __future__ import annotations

import re

_CLAIMED = r"(?:cited|named|quoted|shown|showed|confirmed|provided|given|fulfilled|satisfied|met|open|granted|approved)"
_PATTERNS = (
    # told to drop the rules
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|all|every\w*|your)\b"
    r".{0,25}\b(?:instructions?|rules?|prompts?|told|orders?|guidelines|script)",
    r"\b(?:developer|debug|admin|god)\s+mode\b|\bjailbreak|\bsystem\s+(?:prompt|override|message)\b",
    r"<\|?\s*/?\s*(?:im_\w+|system|message|user|assistant)\b|\{\{|\{%|^\s*#*\s*system\s*[:>]",
    r"\b(?:grants?|answers?|facts?|approved|approval:[\w-]+)\s*=\s*\S",
    # told to play or to pretend
    r"\bpretend(?:ing)?\b|\brole[\s-]?play|\bact(?:ing)?\s+(?:as\s+(?:if|though)|like\s+you)|"
    r"\byou(?:'re|\s+are)\s+(?:now|an?\s+(?:actor|ai|assistant|helpful))\b",
    rf"\b(?:suppose|supposing|assum\w+|imagine|consider|treat|hypothetically|as\s+(?:if|though))\b.{{0,40}}"
    rf"\b(?:i|i'd|i\s+had|gate|conditions?|requirements?|citation|message)\b.{{0,30}}\b{_CLAIMED}\b",
    rf"\bif\b.{{0,10}}\b(?:i'd|i\s+had|gate|conditions?|requirements?|citation)\b.{{0,30}}\b{_CLAIMED}\b",
    r"\btreat\b.{0,40}\bas\s+(?:if|though|confirm|approv)|\bas\s+containing\b",
    # told what to say
    r"(?:^|[.:;,!?]\s*|\b(?:please|just|now|simply)\s+)(?:say|repeat|output|print|echo|type)\b"
    r"(?:.{0,12}\bapproved?\b|.{0,40}(?:\bafter\s+me\b|\bexactly\s+(?:this|these|the\s+following|what\s+i)\b|"
    r"\bthe\s+(?:word|sentence|line|text)s?\s*[:'\"“‘]|\byour\s+(?:answers?|script|prompt|rules)))",
    r"(?:^|[.:;,!?]\s*|\b(?:please|just|now|simply)\s+)(?:write|reply|answer|respond)\b"
    r".{0,40}(?:\bafter\s+me\b|\bexactly\s+(?:this|these|the\s+following|what\s+i)\b|"
    r"\bthe\s+(?:word|sentence)s?\s*[:'\"“‘]|\byour\s+(?:script|prompt|rules))",
    r"\b(?:just|simply|only)\s+(?:echo|repeat|reply\s+with|answer\s+with|output)\b",
    r"\bword\s+for\s+word\b|\bverbatim\b|\bcomplete\s+the\s+sentence\b|\bmagic\s+words?\b",
    r"\b(?:what|which)\s+(?:key)?words?\b.{0,30}\b(?:open|unlock|trigger|need\s+to\s+include|get\s+the\s+answer)",
    r"\b(?:reveal|release|unlock|disclose)\b.{0,30}\b(?:hidden|secret|facts?|answers?|gate)\b",
    # the same in Chinese
    r"忽略.{0,8}(?:指令|指示|规则|要求|提示)|假装|角色扮演|系统提示|开发者模式|没有限制的助手",
    r"(?:假设|假定|就当|当作|设想).{0,12}(?:满足|引用|确认|批准|出示|条件)",
    r"(?:请|^|，|。)(?:你)?(?:说|输出|打印|重复|复述|写下)(?:[:：“\"]|.{0,6}(?:批准|同意|全部答案|这句话))",
)
_STEERING = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE | re.DOTALL)


#: Without a single one of these nobody asks anything in seven words or more.
_GRAMMAR = re.compile(
    r"\b(?:a|an|the|of|to|in|on|at|by|for|from|with|per|as|is|are|was|were|be|been|am|do|does|did|have|has|had|can|could|may|"
    r"might|must|should|shall|will|would|not|no|or|and|but|if|so|than|then|that|this|these|those|there|here|it|its|i|"
    r"you|your|u|we|our|us|my|me|he|she|they|them|their|his|her|what|which|who|whose|when|where|why|how|whom|pls|please)\b"
)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CHINESE_GRAMMAR = re.compile(r"[的了吗呢吧请是否怎什哪谁几为要能可把被还有在到从和跟对我你您]")
_LEAST_LISTED = 7


def is_steering(text: str) -> bool:
    """Whether a message gives the person orders about what to say or pretend, or only strews a topic's words."""
    return _STEERING.search(text) is not None or _is_word_list(text)


def _is_word_list(text: str) -> bool:
    """Words without grammar: what somebody writes who guesses at the words that are listened for."""
    if re.search(r"[?？!！:：;；]", text):
        return False
    words = re.findall(r"[^\s,，、/]+", text.lower())
    if len(words) < _LEAST_LISTED:
        return False
    if _CHINESE.search(text):
        return all(len(word) <= 4 or word.isascii() for word in words) and not _CHINESE_GRAMMAR.search(text)
    return _GRAMMAR.search(text.lower()) is None
