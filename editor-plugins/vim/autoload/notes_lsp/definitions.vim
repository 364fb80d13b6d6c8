vim9script
# Generated from editor-plugins/description.json by generate.py; change those.
#
#   :Notes                         your notes and those shared with you, live; <CR> opens one, ? shows all keys, q closes the list
#   :NotesTutorial                 makes a practice note in which a robot types
#   :NotesNew [title]              creates a note and opens it
#   :NotesOpen {title}             opens a note; completes titles
#   :NotesAdopt                    makes the current buffer a note
#   :NotesShare[!] [read] [uses=3] [hours=2] [days=7] shares the current buffer: the ticket is copied and shown; ! for read only
#   :NotesTicket                   shows the last ticket again, or closes it
#   :NotesJoin [ticket]            joins with a ticket; without one, answers an invitation
#   :NotesShow                     opens a note that arrived while you were doing something else
#   :NotesGiveUp                   stops waiting for a note
#   :NotesInvite [person]          invites a person nearby to the current note; completes names
#   :NotesVerify {person}          shows digits that the other person sees too, unless an attacker relays the connection
#   :NotesAnswer                   shows open invitations: accept, decline, block
#   :NotesConnect[!] {url} [token] connects to a server, or to a person's address, and offers to publish the current note there; ! asks for the token
#   :NotesDisconnect {url}         forgets a server
#   :NotesUnshare [person]         stops sharing the current note, with all people or with one
#   :NotesRemove[!] {person}       removes a person from the current note; you and the others continue in a new copy; ! without asking
#   :NotesPeople                   the people of the current note: access, state, invite, verify, remove
#   :NotesAccess {person} {write, read or none} changes what a person may do
#   :NotesTrust {person}           trusts a person
#   :NotesBlock {person}           blocks a person, who can then no longer reach you
#   :NotesPeers                    lists all people that the service knows or hears
#   :NotesName [name]              changes the name that others see, and whether people on this network see you
#   :NotesRename [title]           gives the current note another title
#   :NotesCopy [title]             makes a note of your own with this text, for instance of a read-only note
#   :NotesDelete[!]                deletes the current note; others keep theirs; ! without asking
#   :NotesDeleteForEveryone[!]     deletes the current note for everyone who has it; each can restore it; ! without asking
#   :NotesUndelete [title]         restores a deleted note
#   :NotesDeleted                  lists the deleted notes: restores, or deletes for good
#   :NotesPurge [title]            deletes a deleted note for good
#   :NotesRecovered                texts that an overwrite would have lost
#   :NotesFind {words}             lists the notes with all these words, in the quickfix list
#   :NotesImport {file}            makes a note of a file: .automerge, .meetingnotes, .md, .json, or a directory of automerge-repo
#   :NotesExport[!] {file}         writes the current note to a file, by its ending; ! replaces one
#   :NotesMerge {file}             merges another copy of the current note
#   :NotesMeeting [title]          makes a meeting: a note in which each agenda item has its own buffer
#   :NotesItem [title]             adds an item to the current meeting
#   :NotesMoveItem {place}         moves the current item to that place of the agenda, counted from 1
#   :NotesAgenda                   the current meeting's items in order, live: opens, adds, renames, moves, deletes
#   :NotesGo [person]              goes to a person, in another note if need be
#   :NotesFollow [person]          stays with a person until you move
#   :[range]NotesPoint [text]      shows the others this place, or the range
#   :NotesHistory                  states of the note: what each changed
#   :[range]NotesRestore           restores a state that you choose; with a range, only those lines
#   :NotesDiff                     what is new to you
#   :NotesBlame                    shows or hides the author of each line
#   :NotesLog                      shows all messages
#   :NotesStatus                   shows whether everything is stored and sent
#   :NotesRestart                  starts the service again
#   :NotesStop                     stops the service
#   :NotesDoctor                   shows what is wrong

# The commands. By their full names, so that they also work when a legacy script calls them.
export def Define()
  command! -bar Notes call notes_lsp#screens#Notes()
  command! -bar NotesTutorial call notes_lsp#commands#CarryOut('NotesTutorial', '')
  command! -nargs=? NotesNew call notes_lsp#commands#CarryOut('NotesNew', <q-args>)
  command! -nargs=1 -complete=customlist,notes_lsp#commands#CompleteTitle NotesOpen call notes_lsp#commands#CarryOut('NotesOpen', <q-args>)
  command! -bar NotesAdopt call notes_lsp#commands#Adopt()
  command! -nargs=* -bang -complete=customlist,notes_lsp#commands#CompleteShare NotesShare call notes_lsp#commands#Share(<bang>0, <q-args>)
  command! -bar NotesTicket call notes_lsp#ticket#Again()
  command! -nargs=? NotesJoin call notes_lsp#commands#Join(<q-args>)
  command! -bar NotesShow call notes_lsp#arrival#Show()
  command! -bar NotesGiveUp call notes_lsp#arrival#GiveUp()
  command! -nargs=? -complete=customlist,notes_lsp#nearby#CompleteName NotesInvite call notes_lsp#nearby#Invite(<q-args>)
  command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesVerify call notes_lsp#nearby#Verify(<q-args>)
  command! -bar NotesAnswer call notes_lsp#nearby#Answer()
  command! -nargs=1 -bang NotesConnect call notes_lsp#server#Connect(<q-args>, <bang>0)
  command! -nargs=1 NotesDisconnect call notes_lsp#commands#CarryOut('NotesDisconnect', <q-args>)
  command! -nargs=? -complete=customlist,notes_lsp#nearby#CompleteName NotesUnshare call notes_lsp#commands#Unshare(<q-args>)
  command! -nargs=1 -bang -complete=customlist,notes_lsp#nearby#CompleteName NotesRemove call notes_lsp#commands#Remove(<bang>0, <q-args>)
  command! -bar NotesPeople call notes_lsp#screens#People()
  command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesAccess call notes_lsp#nearby#Access(<q-args>)
  command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesTrust call notes_lsp#commands#CarryOut('NotesTrust', <q-args>)
  command! -nargs=1 -complete=customlist,notes_lsp#nearby#CompleteName NotesBlock call notes_lsp#commands#CarryOut('NotesBlock', <q-args>)
  command! -bar NotesPeers call notes_lsp#screens#Peers()
  command! -nargs=? NotesName call notes_lsp#introduction#Name(<q-args>)
  command! -nargs=? NotesRename call notes_lsp#commands#CarryOut('NotesRename', <q-args>)
  command! -nargs=? NotesCopy call notes_lsp#commands#Copy(<q-args>)
  command! -bar -bang NotesDelete call notes_lsp#commands#CarryOut('NotesDelete', '', {}, <bang>0)
  command! -bar -bang NotesDeleteForEveryone call notes_lsp#commands#CarryOut('NotesDeleteForEveryone', '', {}, <bang>0)
  command! -nargs=? NotesUndelete call notes_lsp#deletion#Undelete(<q-args>)
  command! -bar NotesDeleted call notes_lsp#screens#Deleted()
  command! -nargs=? NotesPurge call notes_lsp#deletion#Purge(<q-args>)
  command! -bar NotesRecovered call notes_lsp#commands#Recovered()
  command! -nargs=1 NotesFind call notes_lsp#exchange#Find(<q-args>)
  command! -nargs=1 -complete=file NotesImport call notes_lsp#exchange#Import(<q-args>)
  command! -nargs=1 -bang -complete=file NotesExport call notes_lsp#exchange#Export(<q-args>, <bang>0)
  command! -nargs=1 -complete=file NotesMerge call notes_lsp#commands#CarryOut('NotesMerge', <q-args>)
  command! -nargs=? NotesMeeting call notes_lsp#commands#CarryOut('NotesMeeting', <q-args>)
  command! -nargs=? NotesItem call notes_lsp#commands#CarryOut('NotesItem', <q-args>)
  command! -nargs=1 NotesMoveItem call notes_lsp#exchange#MoveItem(<q-args>)
  command! -bar NotesAgenda call notes_lsp#screens#Agenda()
  command! -nargs=? -complete=customlist,notes_lsp#going#CompletePeer NotesGo call notes_lsp#going#Go(<q-args>)
  command! -nargs=? -complete=customlist,notes_lsp#going#CompletePeer NotesFollow call notes_lsp#going#Follow(<q-args>)
  command! -nargs=? -range NotesPoint call notes_lsp#going#Point(<range>, <line1>, <line2>, <q-args>)
  command! -bar NotesHistory call notes_lsp#history#History()
  command! -bar -range NotesRestore call notes_lsp#history#Restore(<range>, <line1>, <line2>)
  command! -bar NotesDiff call notes_lsp#history#Diff()
  command! -bar NotesBlame call notes_lsp#history#Blame()
  command! -bar NotesLog call notes_lsp#commands#Log()
  command! -bar NotesStatus call notes_lsp#condition#Status()
  command! -bar NotesRestart call notes_lsp#commands#Restart()
  command! -bar NotesStop call notes_lsp#commands#StopService()
  command! -bar NotesDoctor call notes_lsp#commands#Doctor()
  nnoremap <silent> <Plug>(Notes) <Cmd>Notes<CR>
  nnoremap <silent> <Plug>(NotesShare) <Cmd>NotesShare<CR>
  nnoremap <silent> <Plug>(NotesTicket) <Cmd>NotesTicket<CR>
  nnoremap <silent> <Plug>(NotesInvite) <Cmd>NotesInvite<CR>
  nnoremap <silent> <Plug>(NotesAnswer) <Cmd>NotesAnswer<CR>
  nnoremap <silent> <Plug>(NotesPeople) <Cmd>NotesPeople<CR>
  nnoremap <silent> <Plug>(NotesAgenda) <Cmd>NotesAgenda<CR>
  nnoremap <silent> <Plug>(NotesGo) <Cmd>NotesGo<CR>
  nnoremap <silent> <Plug>(NotesFollow) <Cmd>NotesFollow<CR>
  nnoremap <silent> <Plug>(NotesPoint) <Cmd>NotesPoint<CR>
  nnoremap <silent> <Plug>(NotesHistory) <Cmd>NotesHistory<CR>
  nnoremap <silent> <Plug>(NotesDiff) <Cmd>NotesDiff<CR>
  nnoremap <silent> <Plug>(NotesBlame) <Cmd>NotesBlame<CR>
  nnoremap <silent> <Plug>(NotesLog) <Cmd>NotesLog<CR>
  nnoremap <silent> <Plug>(NotesStatus) <Cmd>NotesStatus<CR>
enddef

# What the commands that make one request ask for, send and say.
export const flows: dict<dict<any>> = {
  NotesTutorial: {
    method: 'notes/tutorial',
    params: {keys: 'vim'},
    opens: true,
  },
  NotesNew: {
    method: 'notes/create',
    argument: 'title',
    prompt: 'Title: ',
    opens: true,
  },
  NotesOpen: {
    method: 'notes/open',
    argument: 'title',
    opens: true,
  },
  NotesDisconnect: {
    method: 'notes/disconnect',
    argument: 'url',
    say: 'Disconnected from {}',
  },
  NotesTrust: {
    method: 'notes/trust',
    argument: 'peer',
    params: {state: 'trusted'},
  },
  NotesBlock: {
    method: 'notes/trust',
    argument: 'peer',
    params: {state: 'blocked'},
  },
  NotesRename: {
    method: 'notes/rename',
    about: 'note',
    argument: 'title',
    prompt: 'New title: ',
    say: 'Renamed to "{}" (file follows on close)',
  },
  NotesDelete: {
    method: 'notes/delete',
    about: 'note',
    confirm: 'Delete your copy? Others keep theirs.',
    confirmItem: 'Delete this item for everyone?',
  },
  NotesDeleteForEveryone: {
    method: 'notes/delete',
    about: 'note',
    params: {forEveryone: true},
    confirm: 'Delete for everyone who has it?',
  },
  NotesMerge: {
    method: 'notes/merge',
    about: 'note',
    argument: 'path',
    isFile: true,
  },
  NotesMeeting: {
    method: 'notes/create',
    params: {kind: 'meeting'},
    argument: 'title',
    prompt: 'Title of the meeting: ',
    opens: true,
  },
  NotesItem: {
    first: 'notes/items',
    method: 'notes/addItem',
    about: 'list',
    argument: 'title',
    prompt: 'Title of the item: ',
    opens: true,
  },
}

# Twelve colours that can be told apart, for light and for dark backgrounds: the number of 256 and the RGB of a
# caret, the same of a selection. Then the nearest of eight colours.
export const light: list<list<any>> = [
  [160, '#d70000', 224, '#ffd7d7'],
  [27, '#005fff', 189, '#d7d7ff'],
  [28, '#008700', 194, '#d7ffd7'],
  [166, '#d75f00', 223, '#ffd7af'],
  [91, '#8700af', 225, '#ffd7ff'],
  [30, '#008787', 195, '#d7ffff'],
  [162, '#d70087', 218, '#ffafd7'],
  [94, '#875f00', 230, '#ffffd7'],
  [60, '#5f5f87', 254, '#e4e4e4'],
  [64, '#5f8700', 193, '#d7ffaf'],
  [125, '#af005f', 219, '#ffafff'],
  [24, '#005f87', 153, '#afd7ff'],
]
export const dark: list<list<any>> = [
  [203, '#ff5f5f', 52, '#5f0000'],
  [75, '#5fafff', 17, '#00005f'],
  [77, '#5fd75f', 22, '#005f00'],
  [215, '#ffaf5f', 94, '#875f00'],
  [141, '#af87ff', 54, '#5f0087'],
  [80, '#5fd7d7', 23, '#005f5f'],
  [212, '#ff87d7', 89, '#87005f'],
  [179, '#d7af5f', 58, '#5f5f00'],
  [146, '#afafd7', 60, '#5f5f87'],
  [149, '#afd75f', 64, '#5f8700'],
  [205, '#ff5faf', 53, '#5f005f'],
  [117, '#87d7ff', 24, '#005f87'],
]
export const basic = [1, 4, 2, 3, 5, 6, 5, 3, 4, 2, 1, 6]
