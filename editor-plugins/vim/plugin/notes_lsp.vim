if !has('vim9script')
  if has('nvim')
    echomsg 'Notes: this is the plugin for Vim; use editor-plugins/neovim'
  endif
  finish
endif
vim9script
# notes-lsp: notes that several people write at the same time, from Vim, Emacs and others.
#
#   :Notes                 your notes and those shared with you, live; <CR> opens one, ? shows all keys, q closes the list
#   :NotesTutorial         a note that teaches by doing, with a robot that types
#   :NotesNew [title]      creates a note and opens it
#   :NotesOpen {title}     opens a note; completes titles
#   :NotesAdopt            makes the current buffer a note
#   :NotesShare[!]         shares the current buffer: the ticket is copied and shown; ! for read only; uses=3, hours=2, days=7
#   :NotesJoin [ticket]    joins with a ticket; without one, answers an invitation
#   :NotesShow             opens a note that came while you were doing something else; :NotesGiveUp stops waiting for one
#   :NotesInvite [peer]    invites a person nearby to the current note; completes names
#   :NotesVerify {peer}    shows digits that the other person sees too, unless an attacker relays the connection
#   :NotesAnswer           shows open invitations: accept, decline, block
#   :NotesConnect[!] {url} [token]  connects to a server (or to a person's address), and offers to publish the current note there; ! asks for the token
#   :NotesDisconnect {url} forgets a server
#   :NotesUnshare [peer]   stops sharing the current note, with all people or with one
#   :NotesRemove[!] {peer} removes a person from the current note; the others go on in a new copy; ! without asking
#   :NotesPeople           the people of the current note: access, state, invite, verify, remove
#   :NotesAccess {peer} {write, read or none}  changes what a person may do; :NotesTrust, :NotesBlock {peer}
#   :NotesName [name]      changes the name that others see, and whether people on this network see you
#   :NotesRename [title]   gives the current note another title
#   :NotesDelete[!]        deletes the current note, without asking with !; :NotesUndelete [title] brings one back
#   :NotesDeleted          lists the deleted notes: restores, or deletes for good, as does :NotesPurge [title]
#   :NotesDeleteForEveryone  the same for all with whom the note is shared; each can bring it back
#   :NotesFind {words}     lines with these words, of all notes, in the quickfix list
#   :NotesImport {file}    makes a note of a file: .automerge, .meetingnotes, .md, .json, or a directory of automerge-repo
#   :NotesExport[!] {file} writes the current note to a file, by its ending; ! replaces one
#   :NotesMerge {file}     takes in what another copy of the current note has
#   :NotesMeeting [title]  makes a meeting: a note of which each agenda item is a buffer
#   :NotesItem [title]     adds an item to the current meeting; :NotesMoveItem {place} moves the current one
#   :NotesAgenda           the current meeting's items in order, live: opens, adds, renames, moves, deletes
#   :NotesRecovered        texts that an overwrite would have lost
#   :NotesPeers            lists all people that the service knows or hears
#   :NotesGo [peer]        goes to a person, in another note if need be; :NotesFollow [peer] stays with them until you move
#   :NotesPoint [text]     shows the others this place, or the range
#   :NotesHistory          states of the note: what each changed; :NotesRestore brings one back, of a range only these lines
#   :NotesBlame            shows beside each line who wrote it, and takes that away again; :NotesDiff what is new to you
#   :NotesLog              everything that was told
#   :NotesStatus           shows whether all is stored and sent
#   :NotesCopy [title]     makes a note of your own with this text, for one that you can only read
#   :NotesTicket           shows the last ticket again
#   :NotesRestart          starts the service again; :NotesStop stops it; :NotesDoctor shows what is wrong
#
#   g:notes_lsp_command    the service's command, a list; default ['notes-lsp']
#   g:notes_lsp_name       your name as others see it; default: the service's
#   g:notes_lsp_color      the colour you would like, 0 to 11
#   g:notes_lsp_osc52      whether tickets go onto the terminal's clipboard by OSC 52; default true
#   g:notes_lsp_map_undo   whether u, U, CTRL-R, g- and g+ are mapped in notes; default true
#   g:notes_lsp_statusline whether 'statusline' shows how a note is, unless you have set one; default true
#   g:notes_lsp_dir        where notes are, if not in $NOTES_DIR or ~/Notes: files there are recognised when opened
#
#   b:notes_lsp            in a note, a dictionary with id, uri, rev, version, synced (all sent, all received), peers
#   notes_lsp#Status()     a few words for 'statusline'
#
# More: :help notes-lsp. The service is started when a note is opened or a command needs it, and, if you chose to be
# seen on this network, a moment after Vim.

if exists('g:loaded_notes_lsp')
  finish
endif
if !has('patch-9.0.1378') || !has('channel') || !has('job') || !has('timers') || !has('textprop')
  echomsg 'Notes: update Vim to 9.0.1378 or later (+channel, +job, +timers, +textprop)'
  finish
endif
g:loaded_notes_lsp = true


# By their full names, so that they also work when a legacy script calls them.
command! -bar Notes call notes_lsp#screens#Notes()
command! -bar NotesTutorial call notes_lsp#commands#Tutorial()
command! -nargs=? NotesNew call notes_lsp#commands#New(<q-args>)
command! -nargs=1 -complete=customlist,notes_lsp#commands#CompleteTitle NotesOpen call notes_lsp#commands#Open(<q-args>, 0)
command! -bar NotesAdopt call notes_lsp#commands#Adopt()
command! -nargs=* -bang -complete=customlist,notes_lsp#commands#CompleteShare NotesShare call notes_lsp#commands#Share(<bang>0, <q-args>)
command! -nargs=? NotesJoin call notes_lsp#commands#Join(<q-args>)
command! -bar NotesShow call notes_lsp#arrival#Show()
command! -bar NotesGiveUp call notes_lsp#arrival#GiveUp()
command! -nargs=? -complete=customlist,notes_lsp#nearby#CompleteName NotesUnshare call notes_lsp#commands#Unshare(<q-args>)
command! -nargs=1 -bang -complete=customlist,notes_lsp#nearby#CompleteName NotesRemove call notes_lsp#commands#Remove(<bang>0, <q-args>)
command! -nargs=? -complete=customlist,notes_lsp#nearby#CompleteName NotesInvite call notes_lsp#nearby#Invite(<q-args>)
command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesVerify call notes_lsp#nearby#Verify(<q-args>)
command! -nargs=1 -bang NotesConnect call notes_lsp#server#Connect(<q-args>, <bang>0)
command! -nargs=1 NotesDisconnect call notes_lsp#server#Disconnect(<q-args>)
command! -bar NotesAnswer call notes_lsp#nearby#Answer()
command! -nargs=? NotesRename call notes_lsp#commands#Rename(<q-args>)
command! -bar -bang NotesDelete call notes_lsp#commands#Delete(<bang>0)
command! -bar -bang NotesDeleteForEveryone call notes_lsp#commands#Delete(<bang>0, 1)
command! -nargs=1 NotesFind call notes_lsp#exchange#Find(<q-args>)
command! -nargs=1 -complete=file NotesImport call notes_lsp#exchange#Import(<q-args>)
command! -nargs=1 -bang -complete=file NotesExport call notes_lsp#exchange#Export(<q-args>, <bang>0)
command! -nargs=1 -complete=file NotesMerge call notes_lsp#exchange#Merge(<q-args>)
command! -nargs=? NotesMeeting call notes_lsp#exchange#Meeting(<q-args>)
command! -nargs=? NotesItem call notes_lsp#exchange#AddItem(<q-args>)
command! -bar NotesAgenda call notes_lsp#screens#Agenda()
command! -nargs=1 NotesMoveItem call notes_lsp#exchange#MoveItem(<q-args>)
command! -nargs=? NotesUndelete call notes_lsp#commands#Undelete(<q-args>)
command! -nargs=? NotesPurge call notes_lsp#commands#Purge(<q-args>)
command! -bar NotesDeleted call notes_lsp#screens#Deleted()
command! -bar NotesRecovered call notes_lsp#commands#Recovered()
command! -bar NotesPeople call notes_lsp#screens#People()
command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesAccess call notes_lsp#nearby#Access(<q-args>)
command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesTrust call notes_lsp#nearby#Trust(<q-args>, <q-args>, 'trust')
command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesBlock call notes_lsp#nearby#Trust(<q-args>, <q-args>, 'block')
command! -nargs=? NotesName call notes_lsp#introduction#Name(<q-args>)
command! -nargs=? -range NotesPoint call notes_lsp#going#Point(<range>, <line1>, <line2>, <q-args>)
command! -bar NotesLog call notes_lsp#commands#Log()
command! -bar NotesPeers call notes_lsp#screens#Peers()
command! -nargs=? -complete=customlist,notes_lsp#going#CompletePeer NotesGo call notes_lsp#going#Go(<q-args>)
command! -nargs=? -complete=customlist,notes_lsp#going#CompletePeer NotesFollow call notes_lsp#going#Follow(<q-args>)
command! -bar NotesHistory call notes_lsp#history#History()
command! -bar NotesDiff call notes_lsp#history#Diff()
command! -bar NotesBlame call notes_lsp#history#Blame()
command! -bar -range NotesRestore call notes_lsp#history#Restore(<range>, <line1>, <line2>)
command! -bar NotesStatus call notes_lsp#condition#Status()
command! -nargs=? NotesCopy call notes_lsp#condition#Copy(<q-args>)
command! -bar NotesTicket call notes_lsp#ticket#Again()
command! -bar NotesRestart call notes_lsp#commands#Restart()
command! -bar NotesStop call notes_lsp#commands#StopService()
command! -bar NotesDoctor call notes_lsp#commands#Doctor()

for command in ['Notes', 'NotesAgenda', 'NotesAnswer', 'NotesBlame', 'NotesDiff', 'NotesFollow', 'NotesGo', 'NotesHistory',
    'NotesInvite', 'NotesLog', 'NotesPeople', 'NotesPoint', 'NotesShare', 'NotesStatus', 'NotesTicket']
  execute $'nnoremap <silent> <Plug>({command}) <Cmd>{command}<CR>'
endfor

augroup notes_lsp
  autocmd!
  autocmd VimEnter * call timer_start(2000, 'notes_lsp#files#BeSeen')
  autocmd BufReadPost,BufNewFile * call notes_lsp#files#OnRead(str2nr(expand('<abuf>')))
  autocmd BufReadCmd *.meetingnotes call notes_lsp#exchange#OpenFile(expand('<afile>:p'))
  autocmd CmdlineLeave : call notes_lsp#undo#OnCommandLine()
augroup END
