#!/usr/bin/env python3
"""Judges what several people typed into one note through several servers. Knows nothing of this project but the history.

Arguments: the history, one JSON object a line, and the file to write the report to, in Markdown. Exit code 0 if all is well.

  {"at": ms, "do": "type", "who": NAME, "word": W}     W is in the person's buffer from now on; each word is typed once
  {"at": ms, "do": "see", "who": NAME, "words": [...]} new words in the person's buffer
  {"at": ms, "do": "acknowledge", "who": NAME}         the person's editor reports that all their words are stored, and on the server
  {"at": ms, "do": "fault", "what": TEXT}              something breaks while people type
  {"at": ms, "do": "heal", "what": TEXT}               it works again, and no editor types until
  {"at": ms, "do": "equal", "what": TEXT}              all buffers have one text with every word
  {"at": ms, "do": "end", "who": NAME, "text": TEXT}   the person's buffer at the end; also that of the last reader
  {"at": ms, "do": "ask", "who": NAME}                 the last reader asks a server that has nothing but the database
  {"at": ms, "do": "get", "who": NAME}                 and gets the note

What must hold:
  convergence     in the end all buffers are equal
  nothing lost    every acknowledged word is in it; and every word, once
  nothing else    no word that was never typed
  causality       a copy with a word has all that its author had when typing it
  order           each person's words stand in the order in which they were typed
"""
import json
import re
import sys

WORD = re.compile(r"[A-Z][a-z]+-\d+(?=[ ])")


def judge(events):
    problems, seen, typed, needs, acknowledged = [], {}, {}, {}, set()
    for event in events:
        who = event.get("who")
        mine = seen.setdefault(who, set()) if who else None
        if event["do"] == "type":
            if event["word"] in needs:
                problems.append("%s was typed twice" % event["word"])
            # All words that the author has seen, which include what those needed themselves.
            needs[event["word"]] = frozenset(mine)
            typed.setdefault(who, []).append(event["word"])
            mine.add(event["word"])
        elif event["do"] == "see":
            mine.update(event["words"])
            for word in event["words"]:
                missing = needs.get(word, set()) - mine
                if word not in needs:
                    problems.append("%s saw %s, which was never typed" % (who, word))
                elif missing:
                    problems.append("causality: %s saw %s without %s" % (who, word, sorted(missing)[:5]))
        elif event["do"] == "acknowledge":
            acknowledged.update(typed.get(who, []))
    ends = {event["who"]: event["text"] for event in events if event["do"] == "end"}
    if len(set(ends.values())) != 1:
        problems.append("convergence: %d different texts in the end" % len(set(ends.values())))
    for who, text in ends.items():
        words = WORD.findall(text)
        if len(words) != len(set(words)):
            problems.append("%s has words twice: %s" % (who, sorted({w for w in words if words.count(w) > 1})[:5]))
        for name, lost in (("acknowledged", acknowledged), ("typed", set(needs))):
            if lost - set(words):
                problems.append("lost: %s lacks %d %s words, such as %s"
                                % (who, len(lost - set(words)), name, sorted(lost - set(words))[:5]))
        if set(words) - set(needs):
            problems.append("%s has words that were never typed: %s" % (who, sorted(set(words) - set(needs))[:5]))
        for author, own in typed.items():
            order = [word for word in words if word.startswith(author + "-")]
            if order != [word for word in own if word in set(order)]:
                problems.append("order: in the text of %s the words of %s are not in order" % (who, author))
    return problems, acknowledged, needs, ends


def report(events):
    problems, acknowledged, needs, ends = judge(events)
    lines = ["| what was broken, under typing | for | all buffers equal after the heal |", "|---|---:|---:|"]
    started, healed, slowest, asked, waited = {}, {}, 0, {}, []
    for event in events:
        if event["do"] == "fault":
            started[event["what"]] = event["at"]
        elif event["do"] == "heal":
            healed[event["what"]] = event["at"]
        elif event["do"] == "equal":
            what = event["what"]
            after = event["at"] - healed[what]
            slowest = max(slowest, after)
            lines.append("| %s | %.1f s | %.2f s |" % (what, (healed[what] - started[what]) / 1000, after / 1000))
        elif event["do"] == "ask":
            asked[event["who"]] = event["at"]
        elif event["do"] == "get":
            waited.append((event["at"] - asked[event["who"]]) / 1000)
    sees = sum(event["do"] == "see" for event in events)
    lines += [
        "", "%d people typed %d words, of which %d were acknowledged; %d looks at buffers, %d buffers in the end, %.0f s."
        % (len({e["who"] for e in events if e["do"] == "type"}), len(needs), len(acknowledged), sees, len(ends),
           (events[-1]["at"] - events[0]["at"]) / 1000),
        "", "Convergence, nothing lost, nothing twice, nothing else, causality, order: "
        + ("all hold." if not problems else "VIOLATED."),
        "The longest time from a heal to equal buffers was %.2f s (2 s are wanted)." % (slowest / 1000),
    ]
    lines += ["When all servers were killed, a reader had the note from a new one after %.2f s." % time for time in waited]
    return "\n".join(lines + ["- " + problem for problem in problems[:50]]) + "\n", problems


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    text, problems = report(events)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
