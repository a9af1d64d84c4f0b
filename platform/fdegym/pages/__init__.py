"""The pages: they look up, call one use case, render. They hold no rule of their own."""
