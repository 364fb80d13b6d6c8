-- A note's past: earlier texts, their authors, what is new, and restoring one.

local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")

-- Adds the verbs to `M`. `ask` sends a request and tells its error; `current` is the note of the current buffer, or nil.
return function(M, ask, current)
  local function show_diff(result)
    local lines = {}
    for _, hunk in ipairs(result.hunks or {}) do
      table.insert(lines, ("@@ line %d @@ %s"):format(hunk.range.start.line + 1, hunk.author or ""))
      for mark, part in pairs({ ["-"] = hunk.oldText, ["+"] = hunk.newText }) do
        for line in part:gmatch("[^\n]+") do table.insert(lines, mark .. line) end
      end
    end
    if #lines == 0 then return say.news("Nothing has changed") end
    vim.bo[view.show("Notes diff", lines)].syntax = "diff"
  end

  function M.diff_of(target) ask("notes/diff", target, show_diff) end

  function M.diff()
    local note = current()
    if note then M.diff_of({ uri = note.uri }) end
  end

  function M.history_of(target)
    local function with(more) return vim.tbl_extend("force", target, more) end
    view.list("Notes history", "notes/history", target, {
      { "<CR>", "show the note as it was then", "heads", function(row)
        ask("notes/textAt", with({ heads = row.heads }), function(past)
          view.show("Note as it was", vim.split(past.text, "\n", { plain = true }))
        end)
      end },
      { "d", "what this row changed", "heads", function(row) M.diff_of(with({ from = row.before, to = row.heads })) end },
      { "D", "what has changed since then", "heads", function(row) M.diff_of(with({ from = row.heads })) end },
      { "R", "restore the note to then", "heads", function(row)
        ask("notes/restore", with({ heads = row.heads }), function()
          view.refresh()
          say.news("Restored to " .. row.when .. " (u undoes)")
        end)
      end },
    })
    say.news("<CR> shows it, d its changes, D since then, R restores")
  end

  function M.history()
    local note = current()
    if note then M.history_of({ uri = note.uri }) end
  end

  function M.blame(first, last)
    local note = current()
    if not note then return end
    local range = { start = text.position(first - 1, 0), ["end"] = text.position(last, 0) }
    ask("notes/blame", { uri = note.uri, range = range }, function(result)
      local lines = vim.tbl_map(function(span)
        return ("%d: %s, %s"):format(span.range.start.line + 1, span.author, view.day(span.time))
      end, result.spans or {})
      if #lines > 1 then view.show("Notes blame", lines) else say.news(lines[1] or "No text here") end
    end)
  end
end
