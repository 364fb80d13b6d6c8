-- People nearby: inviting, answering, comparing digits, their access, and trusting or blocking them.

local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local refresh = view.refresh

-- Adds the verbs to `M`. `ask` sends a request and tells its error. `sees` has parts of the commands.
return function(M, ask, choose, sees)
  local function spaced(code) return code:sub(1, 3) .. " " .. code:sub(4) end

  function M.invited(peer, sent)
    -- The digits come first, where no name can stand before them.
    say.news(sent.code and ("Code %s: invited %s. :NotesAnswer to confirm"):format(spaced(sent.code), peer.name)
      or "Invited " .. peer.name)
    refresh()
  end

  -- Invites a person to a note: { uri } or { id }.
  function M.invite_to(target, peer)
    local is_answered = false
    local function over() is_answered = true end
    -- A running editor answers at once; if there is none, this takes ten seconds.
    vim.defer_fn(function()
      if not is_answered then say.news("Inviting " .. peer.name .. "…") end
    end, 1000)
    ask("notes/invite", vim.tbl_extend("force", target, { peer = peer.peer }), function(sent)
      over()
      M.invited(peer, sent)
    end, over)
  end

  -- Invites a person to the note in the current buffer, which becomes a note once the user has chosen the person.
  function M.invite(name)
    local buf = sees.usable_buffer()
    if not buf then return end
    local function invite(peer)
      sees.with_adopted(buf, function(note) M.invite_to({ uri = note.uri }, peer) end)
    end
    ask("notes/peers", {}, function(result)
      local near = vim.tbl_filter(function(it)
        return it.state ~= "blocked" and (name == "" or it.peer == name or it.name:lower() == name:lower())
      end, result.peers or {})
      if #near == 0 then
        say.warn(name == "" and ":NotesShare makes a ticket to send; no one is nearby"
          or ":NotesPeers shows people nearby; " .. name .. " is not")
      elseif #near == 1 and name ~= "" then
        invite(near[1])
      else
        choose(near, "Invite", function(it) return it.name .. "  " .. it.state .. "  " .. it.peer:sub(1, 8) end, invite)
      end
    end)
  end

  local function described(invitation)
    if not invitation.from then return invitation.to.name .. ' accepted "' .. invitation.title .. '"' end
    if invitation.from.changed then return "WARNING: " .. invitation.from.name .. " is not who you met" end
    local only = invitation.access == "read" and " (read-only)" or ""
    return invitation.from.name .. ' invites you to "' .. (invitation.title or "a note") .. '"' .. only
  end

  local function decide(invitation)
    -- The digits are in the choice, where no peer can write.
    local code, is_ours = invitation.code and spaced(invitation.code), invitation.to ~= nil
    local choices = is_ours and { (code or "") .. " on both screens: share", "another code, or none: cancel" }
      or { code and code .. " on both screens: accept" or "accept", "decline", "block " .. invitation.from.name }
    choose({ 1, 2, choices[3] and 3 }, described(invitation), function(index) return choices[index] end, function(index)
      local params = { invitation = invitation.invitation, accept = index == 1, block = index == 3 or nil }
      if index == 1 and not is_ours then
        local name = invitation.from.name
        return sees.await("notes/answer", params, "Waiting for " .. name .. "… (:NotesGiveUp)",
          "No answer yet; the note opens when " .. name .. " confirms")
      end
      ask("notes/answer", params, function()
        if is_ours and index == 2 then say.news("Canceled; nothing was shared") end
        if not is_ours then say.news(index == 3 and "Blocked " .. invitation.from.name or "Declined") end
      end)
    end)
  end

  function M.answer()
    ask("notes/invitations", {}, function(result)
      say.forget(":NotesAnswer")
      local open = vim.list_extend(result.invitations or {},
        vim.tbl_filter(function(it) return it.awaitsConfirmation end, result.sent or {}))
      if #open == 0 then
        local sent = (result.sent or {})[#(result.sent or {})]
        if not sent then return say.news("No invitations") end
        local line = sent.to.name .. " has not accepted yet"
        return say.news(sent.code and ("Code %s: %s"):format(spaced(sent.code), line) or line)
      end
      if #open == 1 then return decide(open[1]) end
      choose(open, "Invitations", function(it)
        return (it.code and spaced(it.code) .. "  " or "") .. described(it)
      end, decide)
    end)
  end

  function M.verify(name)
    ask("notes/verify", { peer = name }, function(result)
      local lines = { (result.code:gsub("(%d%d%d%d%d)", "%1 ")), "", result.name .. " must see the same digits." }
      if result.changed then
        vim.list_extend(lines, { "", "WARNING: another key uses this name too.",
          "Someone may pretend to be the person you met." })
      end
      vim.list_extend(lines, { "", "q closes this" })
      view.show("Notes verify", lines)
    end)
  end

  -- What a person may do with a note: "write", "read" or "none".
  function M.set_access(target, person, access)
    local line = { write = " can edit this note", read = " can read this note", none = " no longer has this note" }
    ask("notes/setAccess", vim.tbl_extend("force", target, { peer = person.peer, access = access }), function()
      refresh()
      say.news(person.name .. line[access])
    end)
  end

  function M.access(words)
    local note = sees.current()
    if not note then return end
    local name, access = words:match("^(.-)%s+(%a+)$")
    if not name or not vim.tbl_contains({ "write", "read", "none" }, access) then
      return say.warn(":NotesAccess Ben read: or write, or none")
    end
    M.set_access({ uri = note.uri }, { peer = name, name = name }, access)
  end

  -- This user's decision about a person: "trust", "block" or "forget".
  function M.trust(peer, name, word)
    local state = { trust = "trusted", block = "blocked", forget = "forgotten" }
    local line = { trust = "You trust ", block = "Blocked ", forget = "Forgot " }
    ask("notes/trust", { peer = peer, state = state[word] }, function()
      refresh()
      say.news(line[word] .. name)
    end)
  end
end
