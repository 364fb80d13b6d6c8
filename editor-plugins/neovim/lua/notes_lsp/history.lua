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

  function M.diff()
    local note = current()
    if note then ask("notes/diff", { uri = note.uri }, show_diff) end
  end

  function M.history()
    local note = current()
    if not note then return end
    ask("notes/history", { uri = note.uri }, function(result)
      local rows = result.changes or {}
      if #rows == 0 then return say.news("No history yet") end
      local authors, lines = view.padded(vim.tbl_map(function(it) return it.author end, rows)), {}
      for index, it in ipairs(rows) do
        table.insert(lines, ("%s  %s  +%-5d -%-5d  %s"):format(view.day(it.time), authors[index], it.inserted, it.deleted, it.summary))
      end
      view.show("Notes history", lines, rows, {
        ["<CR>"] = function(row)
          ask("notes/textAt", { uri = note.uri, heads = row.heads }, function(past)
            view.show("Note as it was", vim.split(past.text, "\n", { plain = true }))
          end)
        end,
        d = function(row) ask("notes/diff", { uri = note.uri, from = row.heads }, show_diff) end,
        R = function(row)
          ask("notes/restore", { uri = note.uri, heads = row.heads }, function()
            say.news("Restored to " .. view.day(row.time) .. " (u undoes)")
          end)
        end,
      })
      say.news("<CR> shows that state, d what changed since, R restores it")
    end)
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
