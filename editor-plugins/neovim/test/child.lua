-- A Neovim with the plugin, and a service that a test commands. The test presses keys, as a person would, and looks at the state.

local M = { tests = {} }

local directory, service_program = vim.env.NOTES_TEST_DIR, vim.env.NOTES_TEST_SERVICE
local count = 0

-- What every child begins with: `Hold(method)` keeps back the answers to these requests until `Release()`, which can give others;
-- the questions that Neovim would ask are in `asked`, and get the next of `replies`; `said` has what was shown on the last line.
local preparation = [[
  local service_program, log = ...
  vim.g.notes_lsp_command, vim.g.notes_lsp_name = { "python3", service_program, log }, "Ana"
  vim.cmd("set hidden noswapfile | runtime plugin/notes_lsp.vim plugin/notes_lsp.lua")
  service, say = require("notes_lsp.service"), require("notes_lsp.say")
  note_of, presence = require("notes_lsp.note"), require("notes_lsp.presence")
  local request, held, held_method = service.request, {}, nil
  function Hold(method) held_method = method end
  function service.request(method, params, done)
    if method ~= held_method then return request(method, params, done) end
    return request(method, params, function(answer) table.insert(held, function(other) done(other or answer) end) end)
  end
  function Held() return #held end
  function Release(other)
    for _, act in ipairs(held) do act(other) end
    held, held_method = {}, nil
  end
  asked, replies, said = {}, {}, {}
  function vim.fn.confirm(question, choices, default)
    table.insert(asked, { question, choices, default })
    return table.remove(replies, 1) or 0
  end
  function vim.ui.input(options, act)
    table.insert(asked, { options.prompt, options.default })
    act(table.remove(replies, 1))
  end
  function vim.ui.select(items, options, act)
    table.insert(asked, { options.prompt })
    act(items[table.remove(replies, 1) or 0])
  end
  local echo = vim.api.nvim_echo
  function vim.api.nvim_echo(chunks, ...)
    table.insert(said, chunks[1][1])
    return echo(chunks, ...)
  end
]]

local child = {}
child.__index = child

-- Runs Lua in the child, and returns its value.
function child:lua(code, ...) return vim.rpcrequest(self.channel, "nvim_exec_lua", code, { ... }) end
function child:value(expression) return self:lua("return " .. expression) end
function child:keys(keys) vim.rpcrequest(self.channel, "nvim_input", keys) end
function child:mode() return vim.rpcrequest(self.channel, "nvim_get_mode").mode end
function child:lines() return self:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)") end

-- Two minutes end a hang; a busy machine proves nothing.
local function wait(what, holds)
  if not vim.wait(tonumber(vim.env.NOTES_TEST_PATIENCE) or 120000, holds, 2) then error("waited in vain for: " .. what, 0) end
end

function child:wait(expression)
  wait(expression, function()
    local value = self:value(expression)
    return value and value ~= vim.NIL
  end)
end

function child:wait_mode(mode) wait("mode " .. mode, function() return self:mode() == mode end) end

-- What the service was told, in order: {method, params}.
function child:log()
  local file = io.open(self.log_path)
  local told = {}
  for line in (file and file:read("*a") or ""):gmatch("([^\n]*)\n") do table.insert(told, vim.json.decode(line)) end
  if file then file:close() end
  return told
end

function child:told(method)
  return vim.tbl_map(function(it) return it.params end, vim.tbl_filter(function(it) return it.method == method end, self:log()))
end

function child:wait_told(method, number)
  wait(method, function() return #self:told(method) >= (number or 1) end)
  return self:told(method)
end

-- The service says this to the plugin.
function child:say(method, params)
  self:lua("service.notify('test/say', { method = ..., params = select(2, ...) })", method, params)
end

-- Opens a new note with these lines in the current window.
function child:note(title, lines)
  self:lua("vim.cmd('NotesNew ' .. ...)", title)
  self:wait(("vim.fn.bufname():find(%q) and note_of.of() and note_of.of().is_open"):format(title))
  if lines then
    self:lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", lines)
    self:wait("note_of.of().tick == vim.api.nvim_buf_get_changedtick(0)")
  end
end

-- Whether a line that was shown, or waits, has these words.
function child:wait_said(words) self:wait(("table.concat(say.log, '\\n'):find(%q, 1, true)"):format(words)) end

function M.equal(expected, found)
  if not vim.deep_equal(expected, found) then
    error("expected " .. vim.inspect(expected) .. "\nfound " .. vim.inspect(found), 2)
  end
end

function M.test(name, act) table.insert(M.tests, { name, act }) end

local function start()
  count = count + 1
  local it = setmetatable({ log_path = directory .. "/log" .. count }, child)
  local notes = directory .. "/notes" .. count
  vim.fn.mkdir(notes)
  it.channel = vim.fn.jobstart({
    vim.v.progpath, "--embed", "--headless", "-u", "NONE", "-i", "NONE", "-n",
    "--cmd", "set runtimepath^=" .. vim.env.NOTES_TEST_PLUGIN,
  }, { rpc = true, env = { NOTES_TEST_DIR = notes, NOTES_DIR = notes } })
  it:lua(preparation, service_program, it.log_path)
  return it
end

-- Runs each test in a Neovim of its own, and ends this one.
function M.run()
  local failed = 0
  for _, it in ipairs(M.tests) do
    local name, act = unpack(it)
    if name:find(vim.env.NOTES_TEST_ONLY or "", 1, true) then
      local nvim = start()
      local ok, problem = xpcall(act, debug.traceback, nvim)
      io.stdout:write((ok and "ok      " or "FAILED  ") .. name .. "\n" .. (ok and "" or problem .. "\n"))
      failed = failed + (ok and 0 or 1)
      -- A service that a test has stopped would stay.
      for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.jobpid(nvim.channel))) do vim.loop.kill(pid, "sigkill") end
      vim.fn.jobstop(nvim.channel)
    end
  end
  vim.cmd(failed == 0 and "qall!" or "cquit!")
end

return M
