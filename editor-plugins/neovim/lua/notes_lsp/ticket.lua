-- Tickets: in the registers, on the clipboard, and in a window of their own until it is closed.

local api = vim.api
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local note_of = require("notes_lsp.note")
local files = require("notes_lsp.files")
local view_name = "Notes ticket"
-- The last answer to notes/share, by the note's id.
local tickets = {}
-- The note whose ticket the window shows; nil after that was revoked.
local shown

-- Puts text into the register ", and onto the clipboard: of the system, or of the terminal by OSC 52.
local function copy(line, base64)
  vim.fn.setreg('"', line)
  if vim.fn.has("clipboard") == 1 and pcall(vim.fn.setreg, "+", line) then return end
  -- A terminal that does not know this ignores it; tmux passes it on with `set-clipboard on`.
  if base64 and vim.g.notes_lsp_osc52 ~= false and #api.nvim_list_uis() > 0 then
    pcall(vim.fn.chansend, vim.v.stderr, "\27]52;c;" .. base64 .. "\7")
  end
end

-- How tickets are to be shown.
local function wanted() return { qr = true, width = math.min(vim.o.columns - 2, 76) } end

local function give(ticket)
  shown = ticket.id
  copy(ticket.ticket, ticket.base64)
  local lines = vim.list_extend({}, ticket.lines)
  local code = #(ticket.qr or {}) > 0 and vim.list_extend({ "", "Or scan:" }, ticket.qr) or {}
  -- The whole code must fit a window to be scanned, and a few lines of the note stay.
  local room = vim.o.lines - 8
  if #code > 0 and #lines + #code > room then
    table.insert(lines, #code > room and ("Below: a QR code, which needs %d lines"):format(#code + 8)
      or "Below: a QR code (CTRL-W w, then G)")
  end
  local height = #code > room and math.min(#lines, vim.o.lines - 6) or math.min(#lines + #code, room)
  vim.list_extend(lines, code)
  local from = api.nvim_get_current_win()
  view.show(view_name, lines)
  vim.cmd("resize " .. height)
  api.nvim_win_set_cursor(0, { 1, 0 })
  if api.nvim_win_is_valid(from) then api.nvim_set_current_win(from) end
end

-- `ask` sends a request and tells its error; `with_buffer` makes the current buffer a note; `current` is the note of it, or nil.
return function(M, ask, with_buffer, current)
  M.copy_line = copy

  local function take(ticket)
    tickets[ticket.id] = ticket
    give(ticket)
    view.refresh()
  end

  -- words: read, uses=3, hours=2, days=7
  function M.share(is_read_only, words)
    local params = vim.tbl_extend("force", wanted(), { access = is_read_only and "read" or "write", options = words })
    local target = view.target()
    if target and target.id then return M.share_note(vim.tbl_extend("force", params, target)) end
    with_buffer(function(note, undo)
      ask("notes/share", vim.tbl_extend("force", params, { uri = note.uri }), function(result)
        note_of.attach(note.buf, note.uri, result.id)
        files.know(note.path, note.uri, result.id)
        take(result)
      end, note.id == "" and undo or nil)
    end)
  end

  -- A ticket for the note of a list.
  function M.share_note(target) ask("notes/share", vim.tbl_extend("force", wanted(), target), take) end

  -- The tickets of a note no longer work: if its ticket is on the screen, the window says so.
  function M.tickets_revoked(id)
    if shown ~= id then return end
    shown = nil
    view.replace(view_name, { "This ticket no longer works. :NotesShare makes a new one" })
  end

  -- Shows the last ticket of the current note again if it is still valid, or hides it.
  function M.ticket()
    if view.close(view_name) then return end
    local target = view.target()
    local note = target and target.id and target or current()
    local ticket = note and tickets[note.id]
    if ticket then
      ask("notes/ticket", { id = note.id, ticket = ticket.ticket }, function() give(ticket) end)
    elseif note then
      say.warn(":NotesShare first: no ticket was made here yet")
    end
  end
end
