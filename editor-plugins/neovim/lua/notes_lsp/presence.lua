-- Carets: this user's caret goes out, the others' carets, selections and names are shown as extmarks, which move with the
-- text by themselves.

local api = vim.api
local text = require("notes_lsp.text")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local M = {}

-- Twelve colours that can be told apart, as [256-colour number, RGB] of a caret and RGB of a selection.
local on_light = {
  { 160, "#d70000", "#ffd7d7" }, { 27, "#005fff", "#d7d7ff" }, { 28, "#008700", "#d7ffd7" }, { 166, "#d75f00", "#ffd7af" },
  { 91, "#8700af", "#ffd7ff" }, { 30, "#008787", "#d7ffff" }, { 162, "#d70087", "#ffafd7" }, { 94, "#875f00", "#ffffd7" },
  { 60, "#5f5f87", "#e4e4e4" }, { 64, "#5f8700", "#d7ffaf" }, { 125, "#af005f", "#ffafff" }, { 24, "#005f87", "#afd7ff" },
}
local on_dark = {
  { 203, "#ff5f5f", "#5f0000" }, { 75, "#5fafff", "#00005f" }, { 77, "#5fd75f", "#005f00" }, { 215, "#ffaf5f", "#875f00" },
  { 141, "#af87ff", "#5f0087" }, { 80, "#5fd7d7", "#005f5f" }, { 212, "#ff87d7", "#87005f" }, { 179, "#d7af5f", "#5f5f00" },
  { 146, "#afafd7", "#5f5f87" }, { 149, "#afd75f", "#5f8700" }, { 205, "#ff5faf", "#5f005f" }, { 117, "#87d7ff", "#005f87" },
}
-- At most twenty reports of the own caret a second.
local report_interval_ms, most_name_width = 50, 16
local namespace = api.nvim_create_namespace("notes_lsp")
local is_pausing, is_due, last_report = false, false, nil
-- The peer that the view of a buffer follows, by buffer.
local followed = {}

function M.define_highlights()
  local is_dark = vim.o.background == "dark"
  for index = 0, 11 do
    local term, gui, selected = unpack((is_dark and on_dark or on_light)[index + 1])
    local front = is_dark and { 16, "#000000" } or { 231, "#ffffff" }
    local define = "highlight default Notes%s%d "
    vim.cmd((define .. "ctermfg=%d ctermbg=%d guifg=%s guibg=%s"):format("Caret", index, front[1], term, front[2], gui))
    vim.cmd((define .. "cterm=italic ctermfg=%d gui=italic guifg=%s"):format("Name", index, term, gui))
    vim.cmd((define .. "cterm=reverse guibg=%s gui=NONE"):format("Selection", index, selected))
  end
end

local function draw(note, peer, range)
  local color, buf = peer.color % 12, note.buf
  local function at(position)
    local clamped = text.clamped_position(note.shadow, position)
    local last = api.nvim_buf_line_count(buf) - 1
    -- A place after a final newline is in a line that Neovim does not show.
    return clamped.line > last and text.position(last, #api.nvim_buf_get_lines(buf, last, last + 1, true)[1]) or clamped
  end
  local caret, anchor = at(range["end"]), at(range.start)
  if not text.is_same(caret, anchor) then
    local first, last = anchor, caret
    if text.is_before(last, first) then first, last = last, first end
    api.nvim_buf_set_extmark(buf, namespace, first.line, first.character, {
      end_row = last.line, end_col = last.character, hl_group = "NotesSelection" .. color, priority = 110,
    })
  end
  local line = api.nvim_buf_get_lines(buf, caret.line, caret.line + 1, true)[1]
  local label = { " " .. vim.fn.strcharpart(text.shown(peer.name), 0, most_name_width), "NotesName" .. color }
  local mark = { virt_text = { label }, priority = 130 }
  if caret.character < #line then
    mark.end_row, mark.hl_group = caret.line, "NotesCaret" .. color
    mark.end_col = caret.character + #vim.fn.strcharpart(line:sub(caret.character + 1), 0, 1)
  else
    table.insert(mark.virt_text, 1, { " ", "NotesCaret" .. color })
  end
  peer.mark = api.nvim_buf_set_extmark(buf, namespace, caret.line, caret.character, mark)
end

local function follow(note)
  if note.buf ~= api.nvim_get_current_buf() or not followed[note.buf] or api.nvim_get_mode().mode ~= "n" then return end
  for _, peer in ipairs(note.peers) do
    if peer.peer == followed[note.buf] then M.go(note, peer) end
  end
end

function M.redraw(note)
  if not api.nvim_buf_is_loaded(note.buf) then return end
  api.nvim_buf_clear_namespace(note.buf, namespace, 0, -1)
  for _, peer in ipairs(note.peers) do
    for _, range in ipairs(peer.ranges) do draw(note, peer, range) end
  end
  follow(note)
end

-- The caret, or the selection with the caret at its end.
local function own_range()
  local at, mode = vim.fn.getpos("."), api.nvim_get_mode().mode:sub(1, 1)
  local caret = text.position(at[2] - 1, at[3] - 1)
  if not mode:find("[vVsS\22\19]") then return { start = caret, ["end"] = caret } end
  local other = vim.fn.getpos("v")
  local anchor = text.position(other[2] - 1, other[3] - 1)
  local is_forward = text.is_before(anchor, caret)
  local further = is_forward and caret or anchor
  local line = vim.fn.getline(further.line + 1)
  if mode:find("[VS]") then
    further.character = #line
    if is_forward then anchor.character = 0 end
  elseif vim.o.selection ~= "exclusive" then
    -- The character under the further end is part of the selection.
    further.character = further.character + #vim.fn.strcharpart(line:sub(further.character + 1), 0, 1)
  end
  return { start = anchor, ["end"] = caret }
end

-- Reports the own caret: at once after a pause, else with the next beat.
function M.report()
  if is_pausing then
    is_due = true
    return
  end
  local note = note_of.of()
  is_due = false
  if not note or not note.is_open then return end
  note_of.flush(note, false)
  local report = { uri = note.uri, version = note.version, rev = note.rev, ranges = { own_range() } }
  -- The same numbers are another place after a restart of the service.
  local said = { service.incarnation(), report }
  if vim.deep_equal(said, last_report) then return end
  last_report, is_pausing = said, true
  service.notify("notes/cursor", report)
  vim.defer_fn(function()
    is_pausing = false
    if is_due then M.report() end
  end, report_interval_ms)
end

function M.names(note)
  local names = {}
  for _, peer in ipairs(note and note.peers or {}) do names[peer.name] = true end
  names = vim.tbl_keys(names)
  table.sort(names)
  return names
end

-- The first peer of this name in the note, or any if the name is empty.
function M.find(note, name)
  for _, peer in ipairs(note and note.peers or {}) do
    if #peer.ranges > 0 and (name == "" or peer.name:lower() == name:lower()) then return peer end
  end
end

-- Moves the caret of the current window to a peer's.
function M.go(note, peer)
  local place = peer.mark and api.nvim_buf_get_extmark_by_id(note.buf, namespace, peer.mark, {}) or {}
  if place[1] then vim.fn.cursor(place[1] + 1, place[2] + 1) end
end

-- Follows a peer in the note's buffer; nil stops. Returns whether one was followed before.
function M.follow(note, peer)
  local was = followed[note.buf] ~= nil
  followed[note.buf] = peer and peer.peer
  return was
end

table.insert(note_of.listeners, {
  on_cursors = M.redraw,
  on_applied = function(note)
    follow(note)
    M.report()
  end,
  on_reloaded = M.redraw,
  on_attach = function() vim.schedule(M.report) end,
  on_detach = function(note)
    followed[note.buf] = nil
    if api.nvim_buf_is_loaded(note.buf) then api.nvim_buf_clear_namespace(note.buf, namespace, 0, -1) end
  end,
})

return M
