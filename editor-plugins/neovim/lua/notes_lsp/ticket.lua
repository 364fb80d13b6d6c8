-- Tickets: in the registers, on the clipboard, and in a window of their own until it is closed.

local api = vim.api
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local note_of = require("notes_lsp.note")
local files = require("notes_lsp.files")
local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local view_name = "Notes ticket"
-- The last answer to notes/share, by the note's id.
local tickets = {}

local function base64(bytes)
  local parts = {}
  for first, second, third in bytes:gmatch("(.)(.?)(.?)") do
    local number = first:byte() * 65536 + (second:byte() or 0) * 256 + (third:byte() or 0)
    local four = {}
    for index, divisor in ipairs({ 262144, 4096, 64, 1 }) do
      local digit = math.floor(number / divisor) % 64 + 1
      four[index] = index <= 1 + #first + #second + #third and digits:sub(digit, digit) or "="
    end
    table.insert(parts, table.concat(four))
  end
  return table.concat(parts)
end

-- Puts text into the register ", and onto the clipboard: of the system, or of the terminal by OSC 52.
local function copy(line)
  vim.fn.setreg('"', line)
  if vim.fn.has("clipboard") == 1 and pcall(vim.fn.setreg, "+", line) then return end
  -- A terminal that does not know this ignores it; tmux passes it on with `set-clipboard on`.
  if vim.g.notes_lsp_osc52 ~= false and #api.nvim_list_uis() > 0 then
    pcall(vim.fn.chansend, vim.v.stderr, "\27]52;c;" .. base64(line) .. "\7")
  end
end

-- Lines of at most that width, broken between words; only what has no blank is broken elsewhere.
local function wrapped(line, width)
  local lines = { "" }
  for word in line:gmatch("%S+") do
    if lines[#lines] ~= "" and #lines[#lines] + 1 + #word > width then table.insert(lines, "") end
    lines[#lines] = lines[#lines] .. (lines[#lines] == "" and "" or " ") .. word
    while #lines[#lines] > width do
      local rest = lines[#lines]:sub(width + 1)
      lines[#lines] = lines[#lines]:sub(1, width)
      table.insert(lines, rest)
    end
  end
  return lines
end

local function give(ticket)
  copy(ticket.ticket)
  local width = math.min(vim.o.columns - 2, 76)
  local uses = (ticket.uses or 1) == 1 and "one use" or ticket.uses .. " uses"
  local what = ticket.access == "read" and "read" or "edit"
  local lines = { ("Anyone with this ticket can %s this note (%s)"):format(what, uses), "" }
  vim.list_extend(lines, wrapped(ticket.ticket, width))
  if (ticket.words or "") ~= "" then
    vim.list_extend(lines, { "", "Or read aloud:" })
    vim.list_extend(lines, wrapped(ticket.words, width))
  end
  local by = ticket.expires and vim.fn.strftime(", by %b %d %H:%M", math.floor(ticket.expires / 1000)) or ""
  vim.list_extend(lines, { "", "You must both be online, and in reach of each other" .. by .. ".",
    "Copied. :NotesTicket closes this, and shows it again" })
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
    for word in words:gmatch("%S+") do
      local name = word:match("^(%a+)=%d+$")
      if word ~= "read" and name ~= "uses" and name ~= "hours" and name ~= "days" then
        return say.warn(('"%s" is no option; :NotesShare read uses=3 days=7'):format(word))
      end
    end
    local params = { access = (is_read_only or words:find("%f[%w]read%f[%W]")) and "read" or "write", qr = true }
    for name, factor in pairs({ uses = 1, hours = 3600, days = 86400 }) do
      local number = tonumber(words:match("%f[%w]" .. name .. "=(%d+)"))
      if number then params[name == "uses" and "uses" or "expiresIn"] = number * factor end
    end
    with_buffer(function(note, undo)
      ask("notes/share", vim.tbl_extend("force", params, { uri = note.uri }), function(result)
        note_of.attach(note.buf, note.uri, result.id)
        files.know(note.path, note.uri, result.id)
        take(result)
      end, note.id == "" and undo or nil)
    end)
  end

  -- A ticket for the note of a list.
  function M.share_note(target) ask("notes/share", vim.tbl_extend("force", target, { qr = true }), take) end

  -- Shows the last ticket of the current note again, or hides it.
  function M.ticket()
    if view.close(view_name) then return end
    local note = current()
    if note and tickets[note.id] then
      give(tickets[note.id])
    elseif note then
      say.warn(":NotesShare first: no ticket was made here yet")
    end
  end
end
