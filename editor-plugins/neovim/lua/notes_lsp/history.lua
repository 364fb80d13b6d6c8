-- A note's past: earlier texts, their authors, what is new, and restoring one.

local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local note_of = require("notes_lsp.note")

local api = vim.api
local labels, chosen = api.nvim_create_namespace("notes_lsp_blame"), api.nvim_create_namespace("notes_lsp_restore")

-- Removes the names beside the lines. Returns whether there were any.
local function end_blame(buf)
  local was_shown = vim.b[buf].notes_lsp_blame == true
  vim.b[buf].notes_lsp_blame = nil
  api.nvim_buf_clear_namespace(buf, labels, 0, -1)
  return was_shown
end

-- Shows after each line its last author and the time, until the text changes. `first`: the line of the first label, from 0.
local function show_blame(buf, first, shown)
  end_blame(buf)
  vim.b[buf].notes_lsp_blame = true
  local count = api.nvim_buf_line_count(buf)
  for index, label in ipairs(shown) do
    local line = first + index - 1
    if line < count and vim.trim(label) ~= "" then
      api.nvim_buf_set_extmark(buf, labels, line, 0, { virt_text = { { "  " .. label, "NonText" } }, priority = 90 })
    end
  end
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, { buffer = buf, once = true, callback = function() end_blame(buf) end })
end

-- Where the chosen lines are now, whatever was typed above them; nil if there are none any more.
local function marked(buf)
  if not note_of.of(buf) then return nil end
  note_of.flush(note_of.of(buf), false)
  local first, _, more = unpack(api.nvim_buf_get_extmark_by_id(buf, chosen, 1, { details = true }))
  if not first or more.end_row <= first then return nil end
  return { start = text.position(first, 0), ["end"] = text.position(more.end_row, 0) }
end

-- Adds the verbs to `M`. `ask` sends a request and tells its error; `current` is the note of the current buffer, or nil.
return function(M, ask, current, opens)
  -- `author`: of what has none, as parts of an earlier state.
  function M.diff_of(target, author)
    ask("notes/diff", vim.tbl_extend("force", target, { lines = true, author = author }), opens(function(result)
      if #result.lines == 0 then return say.news("Nothing has changed") end
      vim.bo[view.show("Notes diff", result.lines)].syntax = "diff"
    end))
  end

  function M.diff()
    local note = current()
    if note then M.diff_of({ uri = note.uri }) end
  end

  -- `buf`: the lines to restore are those that are marked there; nil for the whole note.
  function M.history_of(target, buf)
    local function with(more) return vim.tbl_extend("force", target, more) end
    view.list("Notes history", "notes/history", target, {
      { "<CR>", "show the note as it was then", "heads", function(row)
        ask("notes/textAt", with({ heads = row.heads }), opens(function(past)
          view.show("Note as it was", vim.split(past.text, "\n", { plain = true }))
        end))
      end },
      { "d", "what this row changed", "heads", function(row)
        M.diff_of(with({ from = row.before, to = row.heads }), row.author)
      end },
      { "D", "what has changed since then", "heads", function(row) M.diff_of(with({ from = row.heads })) end },
      { "R", "restore the note to then", "heads", function(row)
        local range = buf and marked(buf)
        if buf and not range then return say.warn("Those lines are gone: choose them again") end
        ask("notes/restore", with({ heads = row.heads, range = range }), function()
          view.refresh()
          say.news((range and "Restored those lines to " or "Restored to ") .. row.when .. " (u undoes)")
        end)
      end },
    })
    say.news("<CR> shows it, d its changes, D since then, R restores")
  end

  function M.history()
    local id = view.note_id()
    local note = not id and current()
    if id or note then M.history_of(id and { id = id } or { uri = note.uri }) end
  end

  -- Lets the person choose a state to bring back; with a range, only for these lines.
  function M.restore(first, last)
    local note = current()
    if not note then return end
    if first then api.nvim_buf_set_extmark(note.buf, chosen, first - 1, 0, { id = 1, end_row = last, end_col = 0 }) end
    M.history_of({ uri = note.uri }, first and note.buf)
  end

  -- Shows or hides the last author of each line, or of these lines.
  function M.blame(first, last)
    local note = current()
    if not note or end_blame(note.buf) then return end
    local range = { start = text.position((first or 1) - 1, 0), ["end"] = text.position(last or api.nvim_buf_line_count(0), 0) }
    local tick = api.nvim_buf_get_changedtick(note.buf)
    ask("notes/blame", { uri = note.uri, range = range, width = 22 }, function(result)
      if #(result.labels or {}) == 0 then return say.news("No text here") end
      if api.nvim_buf_is_loaded(note.buf) and api.nvim_buf_get_changedtick(note.buf) == tick then
        show_blame(note.buf, range.start.line, result.labels)
        say.news(":NotesBlame again hides the names")
      end
    end)
  end
end
