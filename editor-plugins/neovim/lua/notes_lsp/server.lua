-- Servers that are always on: connecting to them, and publishing notes there.

local say = require("notes_lsp.say")
local note_of = require("notes_lsp.note")

return function(M, ask, choose, opens)
  local function publish(note, url)
    ask("notes/publish", { uri = note.uri, url = url }, function(result)
      M.copy_line(result.ticket, result.base64)
      note.is_unshared = false
      if result.message then return say.warn(result.message) end
      say.news('Published; register " has the ticket for others')
    end)
  end

  local function offer(note, url)
    local title = vim.fn.fnamemodify(note.path, ":t:r") .. ": "
    choose({ "publish on " .. url, "keep it between your peers" }, title, function(it) return it end, function(chosen)
      if chosen:find("^publish") then publish(note, url) end
    end)
  end

  -- Connects to the server at a URL, also after a restart, and offers to publish the current note there; or calls another
  -- person's service at an address.
  -- words: the URL and perhaps a token; asks_token: the token is typed unseen, and stays out of the command history
  function M.connect(words, asks_token)
    local url, token = words[1], words[2] or ""
    if #words > 2 then return say.warn(":NotesConnect wss://host/ [token]") end
    if not url:find("^wss?://") then
      return ask("notes/connect", { address = url }, function() say.news("Connected to " .. url) end)
    end
    if asks_token and token == "" then token = vim.fn.inputsecret("Token: ") end
    local note = note_of.of()
    local offer_soon = opens(function(result) offer(note, result.url) end)
    say.news("Connecting to " .. url .. "…")
    ask("notes/connect", { url = url, token = token }, function(result)
      if result.state == "connected" then
        say.news("Connected to " .. result.url)
      else
        say.warn("Not connected yet: " .. (result.message or "no answer"))
      end
      if note and note.id ~= "" then offer_soon(result) end
    end)
  end
end
