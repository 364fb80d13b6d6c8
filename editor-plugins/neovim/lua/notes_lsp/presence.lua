-- Carets: this user's caret goes out, the others' carets, selections and names are shown as extmarks, which move with the
-- text by themselves.

local api = vim.api
local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local definitions = require("notes_lsp.definitions")
local M = {}

-- At most twenty reports of this user's caret a second.
local report_interval_ms, maximum_name_width = 50, 16
local namespace, pointing = api.nvim_create_namespace("notes_lsp"), api.nvim_create_namespace("notes_lsp_pointing")
local is_pausing, is_due, last_report = false, false, nil
-- Whether a name can stand at its caret; else it stands at the end of the line.
local has_inline_text = vim.fn.has("nvim-0.10") == 1
-- How long the place that another person points at stays marked.
local pointed_ms = 5000
-- The peer that the view of a buffer follows, by buffer: {peer, name, place}; the place is where the cursor was put last.
local followed = {}
-- Where people have just pointed, by their ids: {buf, line, character}.
local pointed = {}
-- The person whose caret to go to when it is shown: {name, note, keys, time}; and how long to wait for it.
local expected, expected_ms = nil, 2000

function M.define_highlights()
  local is_dark = vim.o.background == "dark"
  for index = 0, 11 do
    local term, gui, _, selected = unpack((is_dark and definitions.dark or definitions.light)[index + 1])
    local front = is_dark and { 16, "#000000" } or { 231, "#ffffff" }
    local define = "highlight default Notes%s%d "
    -- Neovim sends colours to every terminal; one that has none still shows what is reversed.
    vim.cmd((define .. "cterm=reverse ctermfg=%d ctermbg=%d guifg=%s guibg=%s"):format(
      "Caret", index, term, front[1], front[2], gui))
    vim.cmd((define .. "cterm=italic ctermfg=%d gui=italic guifg=%s"):format("Name", index, term, gui))
    vim.cmd((define .. "cterm=reverse guibg=%s gui=NONE"):format("Selection", index, selected))
  end
  vim.cmd("highlight default link NotesPointed IncSearch")
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
  -- A caret at the end of a line is the person's letter, so that it is visible without colours. The letters differ even if two
  -- names begin alike.
  local name, letter, is_at_end = text.shown(peer.name), text.shown(peer.letter or ""), caret.character >= #line
  local needs_letter = not is_at_end and letter ~= "" and vim.fn.toupper(vim.fn.strcharpart(name, 0, 1)) ~= letter
  local label = (needs_letter and " " .. letter or "") .. " " .. vim.fn.strcharpart(name, 0, maximum_name_width)
  if has_inline_text and not is_at_end then label = label:gsub("^ ", "▏") .. " " end
  local mark = { virt_text = { { label, "NotesName" .. color } }, priority = 130 }
  if has_inline_text then mark.virt_text_pos = "inline" end
  if is_at_end then
    table.insert(mark.virt_text, 1, { letter == "" and " " or letter, "NotesCaret" .. color })
  else
    mark.end_row, mark.hl_group = caret.line, "NotesCaret" .. color
    mark.end_col = caret.character + #vim.fn.strcharpart(line:sub(caret.character + 1), 0, 1)
  end
  peer.mark = api.nvim_buf_set_extmark(buf, namespace, caret.line, caret.character, mark)
end

local function follow(note)
  if note.buf ~= api.nvim_get_current_buf() or not followed[note.buf] or api.nvim_get_mode().mode ~= "n" then return end
  for _, peer in ipairs(note.peers) do
    if peer.peer == followed[note.buf].peer then
      M.go(note, peer)
      followed[note.buf].place = api.nvim_win_get_cursor(0)
      -- Without a key, Neovim would show the former place still.
      vim.cmd("redraw")
    end
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
    -- The character under the far end is part of the selection.
    further.character = further.character + #vim.fn.strcharpart(line:sub(further.character + 1), 0, 1)
  end
  return { start = anchor, ["end"] = caret }
end

-- Reports this user's caret: at once after a pause, else with the next beat.
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
  -- After a restart of the service, the same numbers are another place.
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

-- An arrow for a person whose caret is above or below what the current window shows of the note.
function M.arrow(note, name)
  for _, peer in ipairs(note.peers) do
    if peer.name == name and #peer.ranges > 0 then
      -- A place after a final newline is in a line that Neovim does not show.
      local line = math.min(peer.ranges[#peer.ranges]["end"].line + 1, vim.fn.line("$"))
      return line < vim.fn.line("w0") and "↑" or line > vim.fn.line("w$") and "↓" or ""
    end
  end
  return ""
end

-- The first peer of this name in the note, or any if the name is empty.
function M.find(note, name)
  for _, peer in ipairs(note and note.peers or {}) do
    if #peer.ranges > 0 and (name == "" or peer.name:lower() == name:lower()) then return peer end
  end
end

-- Moves the caret of the current window to a peer's, or to where they have just pointed.
function M.go(note, peer)
  local place = pointed[peer.peer]
  if place and place.buf == note.buf then return vim.fn.cursor(place.line + 1, place.character + 1) end
  local at = peer.mark and api.nvim_buf_get_extmark_by_id(note.buf, namespace, peer.mark, {}) or {}
  if at[1] then vim.fn.cursor(at[1] + 1, at[2] + 1) end
end

-- A person points at a part of a note: marks it for a while.
function M.on_pointed(event)
  local note = note_of.with_uri(event.uri or "")
  if not note or not api.nvim_buf_is_loaded(note.buf) then return end
  local first, last = text.clamped_position(note.shadow, event.range.start), text.clamped_position(note.shadow, event.range["end"])
  local line = api.nvim_buf_get_lines(note.buf, first.line, first.line + 1, false)[1]
  if not line then return end
  local place, is_caret = { buf = note.buf, line = first.line, character = first.character }, text.is_same(first, last)
  pointed[event.peer] = place
  local is_marked, mark = pcall(api.nvim_buf_set_extmark, note.buf, pointing, first.line, is_caret and 0 or first.character, {
    end_row = last.line, end_col = is_caret and #line or last.character, hl_group = "NotesPointed", priority = 140,
  })
  vim.defer_fn(function()
    if pointed[event.peer] == place then pointed[event.peer] = nil end
    if is_marked and api.nvim_buf_is_loaded(note.buf) then api.nvim_buf_del_extmark(note.buf, pointing, mark) end
  end, pointed_ms)
end

-- Follows a peer in the note's buffer, until the person does anything there.
function M.follow(note, peer)
  M.go(note, peer)
  followed[note.buf] = { peer = peer.peer, name = peer.name, place = api.nvim_win_get_cursor(0) }
end

function M.is_following(note) return followed[note.buf] ~= nil end

function M.stop_following(note)
  local was = followed[note.buf]
  followed[note.buf] = nil
  if was then say.news("Stopped following " .. was.name) end
end

-- Stops following when the user has moved the cursor or typed.
function M.on_moved()
  local note = note_of.of()
  local it = note and followed[note.buf]
  if it and (api.nvim_get_mode().mode ~= "n" or not vim.deep_equal(it.place, api.nvim_win_get_cursor(0))) then
    M.stop_following(note)
  end
end

-- Goes to the expected caret, unless the user has done anything since.
local function go_on(note)
  local it = expected
  if not it or it.note ~= note then return end
  local peer = M.find(note, it.name)
  local is_over = note ~= note_of.of() or not say.is_idle(it.keys) or vim.loop.now() - it.time > expected_ms
  if peer or is_over then expected = nil end
  if peer and not is_over then M.go(note, peer) end
end

-- Goes to a person's caret in the current note as soon as it is shown there.
function M.expect(name)
  expected = { name = name, note = note_of.of(), keys = say.keys(), time = vim.loop.now() }
  go_on(expected.note)
end

table.insert(note_of.listeners, {
  on_cursors = function(note)
    M.redraw(note)
    vim.cmd("redrawstatus!")
    go_on(note)
  end,
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
