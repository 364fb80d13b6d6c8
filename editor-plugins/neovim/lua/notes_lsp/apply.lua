-- Applies the edits of other people to a buffer, and keeps view and selection.

local api = vim.api
local text = require("notes_lsp.text")
local M = {}

-- The wanted column of a caret that stays at the ends of lines; v:maxcol in newer versions.
local end_of_line = 2147483647

-- Whether a buffer's file ends with a newline that its lines do not show.
function M.has_final_newline(buf)
  local options = vim.bo[buf]
  return options.endofline or (options.fixendofline and not options.binary)
end

-- The service does undo, because Neovim's own would remove others' words. While it runs it stores the note, so a swap file would
-- only cause prompts. What another program writes arrives as an edit. Others write the text, so it must not set options.
function M.set_options(buf, is_stored)
  local options, shortmess = vim.bo[buf], vim.o.shortmess
  -- Another Neovim may have the note, too.
  vim.opt.shortmess:append("A")
  options.swapfile = vim.go.swapfile and not is_stored and vim.v.exiting == vim.NIL
  vim.o.shortmess = shortmess
  options.undofile, options.autoread, options.modeline, options.undolevels = false, false, false, -1
end

function M.reset_options(buf)
  for _, name in ipairs({ "swapfile", "autoread", "modeline", "undolevels" }) do
    pcall(api.nvim_buf_set_option, buf, name, vim.go[name])
  end
end

-- A buffer without lines looks like one with an empty line. Only the byte count differs, and only the current buffer
-- has it.
local function has_no_line(buf, was_empty)
  if not api.nvim_buf_is_loaded(buf) then return was_empty end
  return api.nvim_buf_call(buf, function() return vim.fn.wordcount().bytes == 0 end)
end

-- The text of a loaded buffer. `was_empty` decides between "" and "\n" where Neovim cannot tell.
function M.lines_of(buf, was_empty)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, true)
  local is_empty = #lines == 1 and lines[1] == "" and has_no_line(buf, was_empty)
  if M.has_final_newline(buf) and not is_empty then table.insert(lines, "") end
  return lines
end

-- In Insert mode, a caret stays before text inserted at its place. A caret on a character, or at the start of a
-- line that moves down, moves with it.
local function carried_caret(caret, edits, is_insert)
  for index = #edits, 1, -1 do
    local is_whole_line = caret.character == 0 and edits[index].newText:sub(-1) == "\n"
    caret = text.carried(caret, edits[index], not is_insert or is_whole_line)
  end
  return caret
end

-- What must not move in each window that shows the buffer.
local function views_of(buf)
  local is_insert = api.nvim_get_mode().mode:find("^[iR]") ~= nil
  return vim.tbl_map(function(window)
    local view = api.nvim_win_call(window, vim.fn.winsaveview)
    return {
      window = window, view = view, caret = text.position(view.lnum - 1, view.col),
      is_insert = is_insert and window == api.nvim_get_current_win(), height = api.nvim_win_get_height(window),
    }
  end, vim.fn.win_findbuf(buf))
end

local function restore(it, shadow, edits)
  local caret = carried_caret(it.caret, edits, it.is_insert)
  local top = text.position(it.view.topline - 1, 0)
  -- The view stays on its text. At the top of the buffer it does not, so that new lines above become visible while there is room.
  local is_at_top = top.line == 0 and caret.line < it.height - vim.wo[it.window].scrolloff
  local wanted = vim.tbl_extend("force", it.view, {
    lnum = caret.line + 1, col = caret.character, topline = is_at_top and 1 or carried_caret(top, edits, false).line + 1,
  })
  if caret.character ~= it.caret.character and it.view.curswant < end_of_line then
    wanted.curswant = vim.fn.strdisplaywidth((shadow[caret.line + 1] or ""):sub(1, caret.character))
  end
  api.nvim_win_call(it.window, function() vim.fn.winrestview(wanted) end)
end

-- The other end of a selection in the current window.
local function anchor_of(buf)
  local mode = api.nvim_get_mode().mode
  if buf ~= api.nvim_get_current_buf() or not mode:find("^[vV\22]") then return nil end
  local at = vim.fn.getpos("v")
  return { mode = mode:sub(1, 1), position = text.position(at[2] - 1, at[3] - 1) }
end

local function restore_anchor(anchor, edits)
  if not anchor then return end
  local wanted, now = carried_caret(anchor.position, edits, false), vim.fn.getpos("v")
  if now[2] == wanted.line + 1 and now[3] == wanted.character + 1 then return end
  -- This end can be set only by starting the selection there.
  local caret = vim.fn.getcurpos()
  vim.cmd("noautocmd normal! \27")
  vim.fn.setpos(".", { 0, wanted.line + 1, wanted.character + 1, 0 })
  vim.cmd("noautocmd normal! " .. anchor.mode)
  vim.fn.setpos(".", caret)
end

-- Applies one edit to the buffer and to `shadow`, its text.
local function one(buf, shadow, edit)
  local start, finish = edit.range.start, edit.range["end"]
  local has_newline, count_before = M.has_final_newline(buf), #shadow
  local total = count_before - (has_newline and 1 or 0)
  local replacement = vim.split(edit.newText, "\n", { plain = true })
  local at_end = has_newline and finish.line >= total
  local whole = vim.list_slice(replacement, 1, #replacement)
  whole[1] = shadow[start.line + 1]:sub(1, start.character) .. whole[1]
  whole[#whole] = whole[#whole] .. shadow[finish.line + 1]:sub(finish.character + 1)
  text.patch(shadow, start.line, finish.line - start.line + 1, whole)
  if not at_end and total > 0 then
    api.nvim_buf_set_text(buf, start.line, start.character, finish.line, finish.character, replacement)
    return
  end
  -- The end of the text changed: Neovim does not show a last empty line.
  if shadow[#shadow] ~= "" then
    vim.bo[buf].fixendofline, vim.bo[buf].endofline = false, false
  end
  local shown = #shadow - (shadow[#shadow] == "" and 1 or 0)
  local from = math.min(start.line, total, shown)
  api.nvim_buf_set_lines(buf, from, -1, true, vim.list_slice(shadow, from + 1, shown))
end

-- When a text gets its final newline back, hides the empty last line again, unless a caret is in it.
local function restore_final_newline(buf, shadow, edits, views)
  local count = #shadow
  if M.has_final_newline(buf) or shadow[count] ~= "" or count == 1 then return end
  for _, it in ipairs(views) do
    if carried_caret(it.caret, edits, it.is_insert).line >= count - 1 then return end
  end
  vim.bo[buf].endofline = true
  api.nvim_buf_set_lines(buf, count - 1, count, true, {})
end

-- Applies `edits` (clamped, ascending, in the coordinates of `shadow`) to the buffer and to `shadow`, its text. Returns the
-- growth in bytes, and what went wrong when the views were restored: then the text is right all the same.
function M.edits(buf, shadow, edits)
  local views, anchor, options = views_of(buf), anchor_of(buf), vim.bo[buf]
  local modifiable, readonly = options.modifiable, options.readonly
  -- A read-only buffer has no unsaved edits of the user.
  local is_clean = readonly and not modifiable and not options.modified
  local grown = 0
  options.modifiable, options.readonly = true, false
  local ok, problem = pcall(function()
    -- From the bottom up, so that positions above stay valid.
    for index = #edits, 1, -1 do
      grown = grown + #edits[index].newText - text.byte_count_in(shadow, edits[index].range)
      one(buf, shadow, edits[index])
    end
    restore_final_newline(buf, shadow, edits, views)
  end)
  options.modifiable, options.readonly = modifiable, readonly
  if is_clean then options.modified = false end
  if not ok then error(problem, 0) end
  local is_restored, trouble = pcall(function()
    for _, it in ipairs(views) do restore(it, shadow, edits) end
    restore_anchor(anchor, edits)
  end)
  return grown, not is_restored and tostring(trouble) or nil
end

return M
