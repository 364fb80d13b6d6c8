-- People nearby: inviting, answering, comparing digits, their access, and trusting or blocking them.

local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local refresh = view.refresh

-- Adds the verbs to `M`. `ask` sends a request and tells its error. `sees` has parts of the commands.
return function(M, ask, choose, sees)
  local function outcome(result)
    refresh()
    say.outcome(result)
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
      outcome(sent)
    end, over)
  end

  -- Invites a person to the note in the current buffer, which becomes a note once the user has chosen the person.
  function M.invite(name)
    local buf = sees.usable_buffer()
    if not buf then return end
    local function invite(peer)
      sees.with_adopted(buf, function(note) M.invite_to({ uri = note.uri }, peer) end)
    end
    local pick = sees.opens(function(near)
      choose(near, "Invite", function(it) return it.name .. "  " .. it.state .. "  " .. it.peer:sub(1, 8) end, invite)
    end)
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
        pick(near)
      end
    end)
  end

  local function decide(invitation)
    choose(invitation.choices, invitation.title, function(it) return it.label end, function(choice)
      local params = { invitation = invitation.invitation, accept = choice.accept, block = choice.block }
      if choice.message then return ask("notes/answer", params, function() outcome(choice) end) end
      sees.await("notes/answer", params, choice.waiting .. "… (:NotesGiveUp)", choice.still)
    end)
  end

  function M.answer()
    local pick = sees.opens(function(open)
      if #open == 1 then return decide(open[1]) end
      choose(open, "Invitations", function(it) return it.line end, decide)
    end)
    ask("notes/invitations", {}, function(result)
      say.forget(":NotesAnswer")
      if result.open[1] then pick(result.open) else say.outcome(result) end
    end)
  end

  function M.verify(name)
    ask("notes/verify", { peer = name }, sees.opens(function(result)
      view.show("Notes verify", vim.list_extend(result.lines, { "", "q closes this" }))
    end))
  end

  -- What a person may do with a note: "write", "read" or "none".
  function M.set_access(target, person, access)
    ask("notes/setAccess", vim.tbl_extend("force", target, { peer = person.peer, access = access }), outcome)
  end

  function M.access(words)
    local note = sees.current()
    if not note then return end
    local name, access = words:match("^(.-)%s+(%a+)$")
    if not name or not vim.tbl_contains({ "write", "read", "none" }, access) then
      return say.warn(":NotesAccess Ben read (or write, or none)")
    end
    M.set_access({ uri = note.uri }, { peer = name, name = name }, access)
  end

  -- This user's decision about a person: "trust", "block" or "forget".
  function M.trust(peer, word)
    local state = { trust = "trusted", block = "blocked", forget = "forgotten" }
    ask("notes/trust", { peer = peer, state = state[word] }, outcome)
  end
end
