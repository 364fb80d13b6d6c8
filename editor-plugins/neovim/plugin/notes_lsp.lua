-- notes-lsp: notes that several people write at the same time, from Neovim, Vim, Emacs and others. See :help notes-lsp.

if vim.g.loaded_notes_lsp then return end
if vim.fn.has("nvim-0.7.2") == 0 then
  vim.api.nvim_echo({ { "Notes: update Neovim to 0.7.2 or later", "WarningMsg" } }, true, {})
  return
end
vim.g.loaded_notes_lsp = true

local api = vim.api
local group = api.nvim_create_augroup("notes_lsp", {})

-- Everything that is needed once there is a note, and nothing before.
local function load()
  local presence = require("notes_lsp.presence")
  local note_of, service = require("notes_lsp.note"), require("notes_lsp.service")
  local commands = require("notes_lsp.commands")
  if vim.g.notes_lsp_is_listening then return commands end
  vim.g.notes_lsp_is_listening = true
  presence.define_highlights()
  local function on(events, act) api.nvim_create_autocmd(events, { group = group, callback = act }) end
  local function each(act)
    return function() vim.tbl_map(act, note_of.all()) end
  end
  on("ColorScheme", presence.define_highlights)
  on({ "CursorMoved", "CursorMovedI", "ModeChanged", "BufEnter" }, presence.report)
  on({ "CursorMoved", "InsertEnter", "TextChanged" }, presence.on_moved)
  on({ "InsertLeave", "CompleteDone", "CmdlineLeave", "TextChanged", "TextChangedI", "TextChangedP" }, each(note_of.drain))
  api.nvim_create_autocmd("OptionSet", {
    group = group, pattern = { "endofline", "fixendofline", "binary" },
    callback = each(function(note) note_of.flush(note, true) end),
  })
  on("VimLeavePre", function()
    each(function(note)
      note_of.flush(note, false)
      require("notes_lsp.unsent").keep(note)
      -- The service brings the file of a closed buffer up to date.
      service.notify("textDocument/didClose", { textDocument = { uri = note.uri } })
    end)()
    service.stop()
  end)
  return commands
end

-- Undo keys and commands of a note ask the service.
local function map_undo(note)
  if vim.g.notes_lsp_map_undo == false then return end
  for key, verb in pairs({ u = "undo", U = "undo", ["g-"] = "undo", ["<Undo>"] = "undo", ["<C-r>"] = "redo", ["g+"] = "redo" }) do
    vim.keymap.set("n", key, function() load().undo(verb, vim.v.count1) end, { buffer = note.buf, desc = "Notes: " .. verb })
  end
  for word, verb in pairs({
    u = "Undo", undo = "Undo", ea = "Undo", earlier = "Undo", red = "Redo", redo = "Redo", lat = "Redo", later = "Redo",
  }) do
    local abbreviation = "cnoreabbrev <buffer> <expr> %s getcmdtype() == ':' && getcmdline() ==# '%s' ? 'Notes%s' : '%s'"
    api.nvim_buf_call(note.buf, function() vim.cmd(abbreviation:format(word, word, verb, word)) end)
  end
end

local function unmap_undo(note)
  if not api.nvim_buf_is_loaded(note.buf) then return end
  for _, key in ipairs({ "u", "U", "g-", "<Undo>", "<C-r>", "g+" }) do pcall(vim.keymap.del, "n", key, { buffer = note.buf }) end
  api.nvim_buf_call(note.buf, function()
    for _, word in ipairs({ "u", "undo", "ea", "earlier", "red", "redo", "lat", "later" }) do
      vim.cmd("silent! cunabbrev <buffer> " .. word)
    end
  end)
end

-- What is loaded hears of the first note as of every other one.
local has_listened = false
local function commands()
  local loaded = load()
  if not has_listened then
    has_listened = true
    table.insert(require("notes_lsp.note").listeners, { on_attach = map_undo, on_detach = unmap_undo })
  end
  return loaded
end

-- What an answer of the service names that begins with `lead`, waiting for it only briefly.
local function asked(method, list, member)
  return function(lead)
    local found = {}
    require("notes_lsp.service").request(method, vim.empty_dict(), function(answer)
      for _, it in ipairs((answer.result or {})[list] or {}) do table.insert(found, it[member]) end
    end)
    vim.wait(80, function() return #found > 0 end, 2)
    return vim.tbl_filter(function(it) return vim.startswith(it:lower(), lead:lower()) end, found)
  end
end

local complete = { titles = asked("notes/list", "notes", "title"), near = asked("notes/peers", "peers", "name") }

function complete.here(lead)
  local note_of, presence = require("notes_lsp.note"), require("notes_lsp.presence")
  return vim.tbl_filter(function(it) return vim.startswith(it:lower(), lead:lower()) end, presence.names(note_of.of()))
end

function complete.share(lead)
  return vim.tbl_filter(function(it) return vim.startswith(it, lead) end, { "read", "uses=1", "hours=1", "days=7" })
end

-- The lines that a command was given; none if it was given none.
local function lines(arguments)
  if arguments.range > 0 then return arguments.line1, arguments.line2 end
end

require("notes_lsp.definitions").define(complete, lines, commands)

api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  group = group,
  callback = function(it)
    commands()
    require("notes_lsp.files").on_read(it.buf)
  end,
})

-- Others see this person on the network without a note being open, if the person chose that: the service keeps a file that says so.
api.nvim_create_autocmd("VimEnter", {
  group = group,
  callback = function()
    vim.defer_fn(function()
      if vim.fn.filereadable(require("notes_lsp.files").directory() .. "/.seen") == 1 then
        commands()
        require("notes_lsp.service").start()
      end
    end, 2000)
  end,
})

api.nvim_create_autocmd("BufReadCmd", {
  group = group, pattern = "*.meetingnotes",
  callback = function(it) commands().open_file(vim.fn.fnamemodify(it.file, ":p")) end,
})
