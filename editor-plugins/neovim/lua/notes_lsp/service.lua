-- The notes-lsp process: starts it when needed, talks to it, and restarts it when it dies.
--
--     stopped ──start──► starting ──initialize answered──► ready ──stop──► stopped (restarting, if started before its end)
--        ▲                   │                               │
--        └──five quick deaths┴──────── dies ◄────────────────┘   (else: starting again after a pause)

local say = require("notes_lsp.say")
local M = { state = "stopped", server = {}, log = {} }

local uv = vim.loop
local protocol_version = 1
-- A process that lived shorter than this has died quickly.
local quick_death_ms, maximum_quick_deaths = 10000, 5
-- Milliseconds until the next start, by the number of quick deaths.
local pauses = { 50, 200, 500, 1000, 2000 }
local initialize_timeout_ms, shutdown_timeout_ms, quick_shutdown_ms = 10000, 3000, 500
local maximum_header, maximum_log_lines = 8192, 200

local process, stdin
-- Whether the last process has ended as it was asked to.
local has_ended_well = false
-- Called when the process that was told to end has ended; nil if there is none.
local ending
local incarnation, started_at, quick_deaths = 0, 0, 0
local last_asked, asked, waiting = 0, {}, {}
-- The handlers of other modules: for notifications, by method; and for the start and the end of the service.
local handlers, on_ready, on_gone, on_slow_end = {}, {}, {}, {}

function M.on(method, handler) handlers[method] = handler end
function M.on_ready(act) table.insert(on_ready, act) end
function M.on_gone(act) table.insert(on_gone, act) end
function M.on_slow_end(act) table.insert(on_slow_end, act) end
function M.incarnation() return incarnation end
function M.is_ready() return M.state == "ready" end

local function ours()
  return ((M.server.capabilities or {}).experimental or {}).notes or {}
end

-- Identifies this run of the service: a buffer that outlives it names it to the next one.
function M.run() return ours().run end
-- Where words are kept that the service may not have read; nil if it takes none.
function M.unsent_folder() return ours().unsent end
-- Whether the service has ended as it was told to, and had read and stored everything.
function M.has_ended_well() return has_ended_well end
function M.has_undo() return ours().undo == true end
-- Whether the user has yet to be asked for a name; and the name until then.
function M.asks_name() return ours().asksName == true end
function M.peer_name() return ours().peerName or "" end

-- Where `make install` and a tarball put the program that belongs to this plugin; nil elsewhere.
local prefix = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")
  :match("^(.*)/lib/notes%-lsp/neovim/lua/notes_lsp/service%.lua$")

-- The program and its arguments: as set, or what is on the PATH, or what is installed beside the plugin.
function M.command()
  local command = vim.g.notes_lsp_command
  if type(command) == "table" then return command end
  local beside = prefix and prefix .. "/bin/notes-lsp"
  local is_beside = beside and vim.fn.executable("notes-lsp") == 0 and vim.fn.executable(beside) == 1
  return { is_beside and beside or "notes-lsp" }
end

-- Adds a line to what :checkhealth shows.
function M.remember(line)
  table.insert(M.log, line)
  if #M.log > maximum_log_lines then table.remove(M.log, 1) end
end

-- Calls without letting an error through, which would break the loop that read the message.
local function guarded(act, ...)
  local ok, problem = xpcall(act, debug.traceback, ...)
  if not ok then
    M.remember(problem)
    say.trouble(problem:match("^[^\n]*"))
  end
end

local function write(message)
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  if not stdin or stdin:is_closing() then return false end
  return stdin:write("Content-Length: " .. #body .. "\r\n\r\n" .. body) ~= nil
end

-- Sends a notification. Returns whether it went out; if not, the service is about to be started again.
function M.notify(method, params)
  return M.state == "ready" and write({ method = method, params = params })
end

local function send(method, params, done)
  last_asked = last_asked + 1
  asked[last_asked] = done
  if not write({ id = last_asked, method = method, params = params }) then
    asked[last_asked] = nil
    done({ error = { message = "The service does not answer; try again" } })
  end
end

-- Sends a request. `done` gets {result} or {error = {message}}, always and once. Starts the service.
function M.request(method, params, done)
  if M.state == "ready" then
    send(method, params, done)
  elseif M.state == "restarting" or M.start() then
    table.insert(waiting, { method, params, done })
  else
    done({ error = { message = "" } })
  end
end

local function fail(list, why)
  for _, done in pairs(list) do guarded(done, { error = { message = why } }) end
end

local function fail_waiting()
  local left = vim.tbl_map(function(it) return it[3] end, waiting)
  waiting = {}
  fail(left, "")
end

local function receive(message)
  if type(message) ~= "table" then return end
  if not message.method then
    local done = asked[message.id]
    asked[message.id or 0] = nil
    if done then done(message) end
  elseif message.id ~= nil then
    -- The service makes no request that this client could answer.
    write({ id = message.id, error = { code = -32601, message = message.method .. " is not supported" } })
  elseif handlers[message.method] then
    handlers[message.method](message.params or {})
  end
end

-- The messages that are complete with each chunk; throws if the other side does not speak the protocol.
local function reader()
  local received, chunks, count, need = "", {}, 0, nil
  return function(chunk)
    local bodies = {}
    table.insert(chunks, chunk)
    count = count + #chunk
    while not need or count >= need do
      received, chunks = table.concat(chunks), {}
      if not need then
        local _, last = received:find("\r\n\r\n", 1, true)
        local length = last and ("\n" .. received:sub(1, last)):lower():match("\ncontent%-length:%s*(%d+)")
        if not length then
          if last or #received > maximum_header then error("the service sent something that is not the protocol", 0) end
          chunks = { received }
          return bodies
        end
        need, received = tonumber(length), received:sub(last + 1)
      else
        table.insert(bodies, received:sub(1, need))
        received, need = received:sub(need + 1), nil
      end
      chunks, count = { received }, #received
    end
    return bodies
  end
end

-- Lets go of the process, of which nothing more will come.
local function let_go(why)
  for _, act in ipairs(on_gone) do guarded(act) end
  local left = asked
  asked = {}
  fail(left, why)
end

local launch

-- The process has ended. Its buffers stay, and are shown to the next one.
local function on_exit(mine, code)
  if mine ~= incarnation then return end
  if ending then
    local done, is_wanted = ending, M.state == "restarting"
    ending, M.state = nil, "stopped"
    let_go("")
    done()
    return is_wanted and M.start()
  end
  if M.state == "stopped" then return end
  quick_deaths = uv.now() - started_at < quick_death_ms and quick_deaths + 1 or 1
  M.state = "restarting"
  M.remember("the service ended with " .. tostring(code))
  let_go("The service stopped; try again")
  if quick_deaths >= maximum_quick_deaths then
    M.state = "stopped"
    fail_waiting()
    say.warn("The service keeps failing. :checkhealth notes_lsp shows why")
    return
  end
  say.news("The service stopped and restarts; typing is kept")
  vim.defer_fn(function()
    if M.state == "restarting" and not ending then launch() end
  end, pauses[math.min(quick_deaths, #pauses)])
end

local function on_initialized(mine, answer)
  if mine ~= incarnation or M.state ~= "starting" then return end
  local result = answer.result or {}
  if answer.error or (result.capabilities or {}).positionEncoding ~= "utf-8" then
    M.stop(function() end)
    say.warn("The service failed to start: " .. (answer.error and answer.error.message or "it does not use UTF-8 positions"))
    return
  end
  M.server, M.state = result, "ready"
  M.notify("initialized", vim.empty_dict())
  if (ours().protocol or protocol_version) < protocol_version then
    say.warn("Update notes-lsp: it speaks protocol " .. ours().protocol .. ", not " .. protocol_version)
  end
  for _, act in ipairs(on_ready) do guarded(act) end
  local requests = waiting
  waiting = {}
  for _, request in ipairs(requests) do M.request(unpack(request)) end
end

launch = function()
  local command = M.command()
  if vim.fn.executable(command[1]) == 0 then
    M.state = "stopped"
    say.warn("Set g:notes_lsp_command: cannot run " .. command[1])
    fail_waiting()
    return false
  end
  incarnation = incarnation + 1
  local mine = incarnation
  local stdout, stderr = uv.new_pipe(), uv.new_pipe()
  stdin = uv.new_pipe()
  local handle
  handle = uv.spawn(command[1], { args = vim.list_slice(command, 2), stdio = { stdin, stdout, stderr } },
    vim.schedule_wrap(function(code, signal)
      handle:close()
      if mine == incarnation then has_ended_well = code == 0 and signal == 0 end
      for _, pipe in ipairs({ stdout, stderr }) do if not pipe:is_closing() then pipe:close() end end
      if mine == incarnation and stdin and not stdin:is_closing() then stdin:close() end
      guarded(on_exit, mine, code)
    end))
  process, started_at, has_ended_well, M.keys_at_start = handle, uv.now(), false, say.keys()
  M.server, M.state = {}, "starting"
  local read = reader()
  local function on_chunk(problem, chunk)
    if problem or not chunk or mine ~= incarnation then return end
    local ok, bodies = pcall(read, chunk)
    if not ok then
      handle:kill("sigkill")
      return
    end
    vim.schedule(function()
      for _, body in ipairs(bodies) do
        guarded(function() receive(vim.json.decode(body, { luanil = { object = true, array = true } })) end)
      end
    end)
  end
  stdout:read_start(on_chunk)
  stderr:read_start(vim.schedule_wrap(function(_, chunk)
    for line in (chunk or ""):gmatch("[^\n]+") do M.remember(line) end
  end))
  local version = vim.version()
  local name = ("%d.%d.%d"):format(version.major, version.minor, version.patch)
  send("initialize", {
    processId = vim.fn.getpid(),
    clientInfo = { name = "Neovim", version = name },
    capabilities = { general = { positionEncodings = { "utf-8" } } },
    initializationOptions = {
      notes = {
        protocol = protocol_version, client = "neovim " .. name, userName = vim.g.notes_lsp_name,
        color = vim.g.notes_lsp_color, introduces = true,
      },
    },
  }, function(answer) on_initialized(mine, answer) end)
  vim.defer_fn(function()
    if M.state == "starting" and mine == incarnation then
      M.remember("initialize was not answered in time")
      handle:kill("sigkill")
    end
  end, initialize_timeout_ms)
  return true
end

-- Starts the service unless it runs. Returns whether it runs or is about to.
function M.start()
  if M.state ~= "stopped" then return true end
  quick_deaths = 0
  if not ending then return launch() end
  M.state = "restarting"
  return true
end

-- Stops the service cleanly, after it has stored what it has. Waits for that; but with `done`, calls this afterwards, and kills a
-- service that hangs, which would read its input when the next one has taken the buffers over.
function M.stop(done)
  local was_ready, was_ending, mine = M.state == "ready", ending ~= nil, incarnation
  local is_running = was_ready or M.state == "starting"
  local function has_ended() return process:is_closing() end
  M.state = "stopped"
  fail_waiting()
  if is_running then
    if was_ready then write({ id = last_asked + 1, method = "shutdown" }) end
    write({ method = "exit" })
  end
  if done and (is_running or was_ending) then
    ending = done
    for _, act in ipairs(on_gone) do guarded(act) end
    vim.defer_fn(function()
      if not ending or mine ~= incarnation then return end
      M.remember("the service did not end in time")
      process:kill("sigkill")
    end, shutdown_timeout_ms)
    return
  end
  if (is_running or was_ending) and not vim.wait(quick_shutdown_ms, has_ended, 2) then
    for _, act in ipairs(on_slow_end) do guarded(act) end
    vim.wait(shutdown_timeout_ms - quick_shutdown_ms, has_ended, 2)
  end
  let_go("")
  if done then done() end
end

M.on("window/showMessage", function(params) say.news((params.message or ""):gsub("^notes%-lsp: ", "")) end)
M.on("window/logMessage", function(params) M.remember(params.message or "") end)

return M
