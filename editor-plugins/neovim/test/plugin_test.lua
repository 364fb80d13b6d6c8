-- The plugin with a service that a test commands: what a person sees and loses if answers come late, or never.

local test_directory = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local child = dofile(test_directory .. "/child.lua")
local test, equal = child.test, child.equal

test("a ticket that no longer works is not shown", function(nvim)
  nvim:note("Tea")
  local function ticket_says(line) nvim:wait(("vim.fn.getbufline('Notes ticket', 1)[1] == %q"):format(line)) end
  nvim:lua("vim.cmd('NotesShare')")
  ticket_says("What it allows")
  nvim:say("notes/event", { kind = "tickets", id = "another" })
  nvim:lua("vim.cmd('NotesUnshare')")
  ticket_says("This ticket no longer works. :NotesShare makes a new one")
  nvim:lua("vim.cmd('NotesShare')")
  ticket_says("What it allows")
end)

test("a sidebar that opens with a note does not become the note", function(nvim)
  nvim:lua([[vim.api.nvim_create_autocmd("BufReadPost", { pattern = "*.md", callback = function()
    vim.cmd("vnew | setlocal buftype=nofile")
    vim.api.nvim_buf_set_lines(0, 0, -1, true, { "sidebar" })
  end })]])
  nvim:lua("vim.cmd('NotesNew Tea')")
  nvim:wait_told("textDocument/didOpen")
  nvim:wait("#note_of.all() > 0")
  equal({ true }, nvim:value("vim.tbl_map(function(it) return vim.api.nvim_buf_get_name(it.buf):find('Tea.md') ~= nil end, note_of.all())"))
  equal({ "" }, vim.tbl_map(function(it) return it.textDocument.text end, nvim:told("textDocument/didOpen")))
end)

test("the first start asks for the name if the user does nothing else", function(nvim)
  nvim:lua("function service.asks_name() return true end")
  nvim:lua("replies = { 'Ben', 1 }")
  nvim:lua("vim.cmd('NotesNew Tea')")
  equal({ name = "Ben", visible = false }, nvim:wait_told("notes/setName")[1])
  equal({ { "Name that others see: ", "" }, { "Notes: May people on this network see you?", "&No\n&Yes", 1 } }, nvim:value("asked"))
end)

test("the first start does not ask while the user types", function(nvim)
  nvim:lua("function service.asks_name() return true end")
  nvim:keys("imilk")
  nvim:wait_mode("i")
  nvim:lua("require('notes_lsp.commands') service.start()")
  nvim:wait_said(":NotesName first")
  equal({}, nvim:value("asked"))
end)

test("a choice that comes late waits for :NotesShow", function(nvim)
  nvim:note("Tea")
  nvim:lua("Hold('notes/invitations') vim.cmd('NotesAnswer')")
  nvim:wait("Held() == 1")
  nvim:keys("imilk")
  nvim:wait("vim.api.nvim_get_current_line() == 'milk'")
  nvim:lua("Release({ result = { open = { { title = 'Ben', line = 'Ben', choices = { { label = '123456 accept' } } } } } })")
  nvim:wait_said("The answer is ready: :NotesShow")
  equal({}, nvim:value("asked"))
  nvim:keys("<Esc>:NotesShow<CR>")
  nvim:wait("asked[1]")
  equal({ { "Ben" } }, nvim:value("asked"))
end)

test("a note that comes late does not take what the user types", function(nvim)
  nvim:note("Tea")
  nvim:lua("Hold('notes/create') vim.cmd('NotesNew Late')")
  nvim:wait("Held() == 1")
  nvim:keys("imilk<Esc>")
  nvim:wait("vim.api.nvim_get_current_line() == 'milk'")
  nvim:wait_mode("n")
  nvim:lua("Release()")
  nvim:wait_said('"Late" is ready: :NotesShow')
  equal("Tea.md", nvim:value("vim.fn.expand('%:t')"))
  nvim:keys(":NotesShow<CR>")
  nvim:wait("vim.fn.expand('%:t') == 'Late.md'")
  equal({ "" }, nvim:lines())
end)

test("a service that hangs is killed before the next one starts, and nothing waits for it", function(nvim)
  nvim:note("Tea", { "milk" })
  local old = nvim:value("vim.api.nvim_get_proc_children(vim.fn.getpid())[1]")
  vim.loop.kill(old, "sigstop")
  nvim:lua("vim.cmd('NotesRestart')")
  -- The command is over while the old one is still there.
  equal({ { old }, false }, nvim:value("{ vim.api.nvim_get_proc_children(vim.fn.getpid()), note_of.of().is_open }"))
  nvim:lua("service.request('notes/peers', vim.empty_dict(), function(answer) late = answer end)")
  nvim:wait("late and service.is_ready() and note_of.of().is_open")
  equal(true, nvim:value("late.result ~= nil"))
  equal(nil, (vim.loop.kill(old, 0)))
  equal(2, #nvim:told("initialize"))
end)

test("a service that was stopped stays so until it is needed", function(nvim)
  nvim:note("Tea", { "milk" })
  nvim:lua("vim.cmd('NotesStop')")
  nvim:wait_said("Service stopped")
  equal({ "stopped", false }, nvim:value("{ service.state, note_of.of().is_open }"))
  nvim:lua("vim.cmd('NotesRestart')")
  nvim:wait("note_of.of().is_open")
  equal(true, nvim:wait_told("textDocument/didOpen", 2)[2].notes.reattach)
end)

-- Opens the note where Ben is said to be, whose caret has not arrived.
local function go_to_ben(nvim)
  nvim:note("Tea", { "one two", "three" })
  nvim:note("Milk", { "four" })
  nvim:lua("Hold('notes/open') vim.cmd('NotesGo Ben')")
  nvim:wait("Held() == 1")
  nvim:lua("vim.cmd('buffer Tea.md')")
  nvim:lua([[local note = note_of.of()
    vim.cmd("buffer Milk.md")
    Release({ result = { id = note.id, uri = note.uri, path = note.path, near = "Ben" } })]])
  equal("Tea.md", nvim:value("vim.fn.expand('%:t')"))
end

local function show_ben(nvim)
  nvim:lua([[local note = note_of.with_uri((note_of.of() or {}).uri)
    local at = { line = 1, character = 3 }
    service.notify("test/say", { method = "notes/cursors", params = { uri = note.uri, version = note.version, rev = note.rev,
      peers = { { peer = "b", name = "Ben", color = 1, ranges = { { start = at, ["end"] = at } } } } } })]])
  nvim:wait("#note_of.of().peers == 1")
end

test(":NotesGo goes to a caret that arrives soon", function(nvim)
  go_to_ben(nvim)
  show_ben(nvim)
  equal({ 2, 3 }, nvim:value("vim.api.nvim_win_get_cursor(0)"))
end)

test(":NotesGo goes nowhere once the user types", function(nvim)
  go_to_ben(nvim)
  nvim:keys("Ahello ")
  nvim:wait("vim.api.nvim_get_current_line() == 'one twohello '")
  show_ben(nvim)
  nvim:keys("world<Esc>")
  nvim:wait_mode("n")
  equal({ "one twohello world", "three" }, nvim:lines())
  show_ben(nvim)
  equal(1, nvim:value("vim.api.nvim_win_get_cursor(0)[1]"))
end)

test(":NotesGo does not go to a caret that arrives late", function(nvim)
  go_to_ben(nvim)
  nvim:lua("local now = vim.loop.now function vim.loop.now() return now() + 2500 end")
  show_ben(nvim)
  equal({ 1, 0 }, nvim:value("vim.api.nvim_win_get_cursor(0)"))
end)

test("an edit counts as applied if only the view could not be restored", function(nvim)
  nvim:note("Tea", { "milk" })
  nvim:lua("function vim.fn.winrestview() error('no view') end")
  local version = nvim:value("note_of.of().version")
  nvim:lua([[local note, start = note_of.of(), { line = 0, character = 0 }
    service.notify("test/say", { method = "notes/edit", params = { uri = note.uri, version = note.version, rev = 1, bytes = 9,
      edits = { { range = { start = start, ["end"] = start }, newText = "hot " } } } })]])
  nvim:wait_told("notes/ack")
  equal({ "hot milk" }, nvim:lines())
  equal({ 1, version }, nvim:value("{ note_of.of().rev, note_of.of().version }"))
  nvim:wait_said("no view")
end)

test("a note that is wiped out and read again is closed before it is opened", function(nvim)
  nvim:note("Tea", { "milk" })
  nvim:lua("vim.cmd('silent write | let name = bufname() | bwipe | execute \"edit\" name')")
  nvim:wait_told("textDocument/didClose")
  nvim:wait("note_of.of().is_open")
  equal(true, nvim:wait_told("textDocument/didOpen", 2)[2].textDocument.text:find("milk") ~= nil)
  local order = vim.tbl_filter(function(it) return it == "textDocument/didOpen" or it == "textDocument/didClose" end,
    vim.tbl_map(function(it) return it.method end, nvim:log()))
  equal({ "textDocument/didOpen", "textDocument/didClose", "textDocument/didOpen" }, order)
end)

test("what was meant for a closed buffer does not reach its successor", function(nvim)
  nvim:note("Tea", { "milk" })
  local version = nvim:value("note_of.of().version")
  nvim:lua("vim.cmd('silent write | let name = bufname() | bwipe | execute \"edit\" name')")
  nvim:wait_told("textDocument/didOpen", 2)
  nvim:wait("note_of.of().is_open")
  equal(true, nvim:value("note_of.of().version") > version)
  local start = { line = 0, character = 0 }
  local function edit(for_version, rev, text, bytes)
    nvim:say("notes/edit", { uri = nvim:value("note_of.of().uri"), version = for_version, rev = rev, bytes = bytes,
      edits = { { range = { start = start, ["end"] = start }, newText = text } } })
  end
  -- The service sent the first edit before it read that the buffer was closed.
  edit(version, 1, "late ", 10)
  edit(nvim:value("note_of.of().version"), 2, "hot ", 9)
  nvim:wait("note_of.of().rev == 2")
  equal({ "hot milk" }, nvim:lines())
end)

test(":NotesStatus does not take the service's status for the note's", function(nvim)
  nvim:note("Tea")
  nvim:lua("Hold('notes/status') vim.cmd('NotesStatus')")
  nvim:wait("Held() > 0")
  nvim:lua("Release({ result = { stored = true, documents = 3 } })")
  nvim:wait_said("Not stored: the service has not opened this note")
end)

test("reading a file again returns to the same words", function(nvim)
  nvim:note("Again", { "one", "two", "three" })
  nvim:lua("vim.cmd('silent write') vim.fn.append(0, 'new') note_of.flush(note_of.of(), false) vim.fn.cursor(3, 2)")
  nvim:lua("vim.cmd('edit!')")
  nvim:wait("note_of.of().is_open and note_of.of().was_open and not note_of.of().is_reading and vim.fn.line('$') == 3")
  nvim:say("notes/edit", {
    uri = nvim:value("note_of.of().uri"), version = nvim:value("note_of.of().version"), rev = 1, cause = "reload",
    bytes = nvim:value("note_of.of().bytes") + 4,
    edits = { { range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } }, newText = "new\n" } },
  })
  nvim:wait("vim.fn.getline(1) == 'new'")
  equal({ 3, 2 }, nvim:value("{ vim.fn.line('.'), vim.fn.col('.') }"))
end)

test("a file with NUL bytes is said to have them", function(nvim)
  nvim:lua("vim.cmd('edit nul.txt') vim.fn.setline(1, 'one\\ntwo') vim.cmd('NotesAdopt')")
  nvim:wait_said("The file has NUL bytes, so it cannot be a note")
end)

test("the help over a list leaves the ruler as it was", function(nvim)
  nvim:lua("vim.cmd('Notes')")
  nvim:wait("vim.fn.getline(2) == '  Tea'")
  nvim:keys("?")
  nvim:wait("not vim.o.ruler")
  nvim:keys("q")
  nvim:wait("vim.o.ruler")
end)

test("renaming offers the present title, which the file may not have yet", function(nvim)
  nvim:note("Former")
  nvim:lua("note_of.of().status = { title = 'Present' } vim.cmd('NotesRename')")
  equal({ { "New title: ", "Present" } }, nvim:value("asked"))
end)

test("the status says once why a note is not stored", function(nvim)
  nvim:note("Tea")
  for _, case in ipairs({ { { { text = "not stored: the disk is full" } }, "Not stored: the disk is full" },
    { {}, "Not stored yet; not shared" } }) do
    nvim:lua("Hold('notes/status') vim.cmd('NotesStatus')")
    nvim:wait("Held() > 0")
    nvim:lua("Release({ result = { stored = false, company = ... } })", case[1])
    nvim:wait(("said[#said] == 'Notes: %s'"):format(case[2]))
  end
end)

test("what says where the words are goes first, and only news is dropped", function(nvim)
  nvim:note("Tea")
  nvim:keys("i")
  nvim:wait_mode("i")
  nvim:lua([[said = {}
    local defer = vim.defer_fn
    function vim.defer_fn(act, time) return defer(act, math.min(time, 10)) end
    say.warn("urgent")
    for number = 1, 30 do say.news("news " .. number) end
    say.event({ level = "words", message = "copy 1" })
    say.event({ level = "words", message = "copy 2" })]])
  nvim:keys("<Esc>")
  for number, line in ipairs({ "copy 1", "copy 2", "urgent", "news 30" }) do
    nvim:wait(("said[%d]"):format(number))
    equal("Notes: " .. line, nvim:value(("said[%d]"):format(number)))
    nvim:keys("l")
  end
end)

-- Chooses lines to restore, changes the note by this Lua, and restores. Returns the range that the service was told.
local function restore(nvim, lines, change)
  nvim:note("Tea", { "one", "two", "three", "four" })
  nvim:lua("buf = vim.api.nvim_get_current_buf() vim.cmd(... .. 'NotesRestore')", lines)
  nvim:wait("vim.b.notes_lsp_view")
  nvim:lua([[require("notes_lsp.view") local done = service.request
    function service.request(method, params, act)
      if method ~= "notes/history" then return done(method, params, act) end
      act({ result = { lines = { "then" }, rows = { { heads = { "a" }, when = "then" } } } })
    end
    require("notes_lsp.view").refresh()]])
  nvim:wait("vim.fn.getline(1) == 'then'")
  nvim:lua(change)
  nvim:keys("R")
end

test("the lines to restore are found where they are now", function(nvim)
  restore(nvim, "2,3", [[vim.api.nvim_buf_set_lines(buf, 0, 0, true, { "new", "new" })
    vim.api.nvim_buf_set_lines(buf, 5, 5, true, { "below" })]])
  local range = nvim:wait_told("notes/restore")[1].range
  equal({ start = { line = 3, character = 0 }, ["end"] = { line = 5, character = 0 } }, range)
end)

test("the last lines can be restored", function(nvim)
  restore(nvim, "4", [[vim.api.nvim_buf_set_lines(buf, 0, 1, true, {})]])
  local range = nvim:wait_told("notes/restore")[1].range
  equal({ start = { line = 2, character = 0 }, ["end"] = { line = 3, character = 0 } }, range)
end)

test("lines that are gone are not restored", function(nvim)
  restore(nvim, "2,3", [[vim.api.nvim_buf_set_lines(buf, 1, 3, true, {})]])
  nvim:wait_said("Those lines are gone")
  equal({}, nvim:told("notes/restore"))
end)

test("a list is filled when the program that was missing is there", function(nvim)
  nvim:lua("command, vim.g.notes_lsp_command = vim.g.notes_lsp_command, { '/no/such/program' }")
  nvim:lua("vim.cmd('Notes')")
  nvim:wait_said("cannot run /no/such/program")
  nvim:lua("vim.g.notes_lsp_command = command vim.cmd('Notes')")
  nvim:wait("vim.fn.getline(2) == '  Tea'")
end)

child.run()
