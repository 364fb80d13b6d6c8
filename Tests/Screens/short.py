"""What play.py --short plays besides the scenario: the steps that all three editors take, of which no screens are kept."""


class ShortSteps:
    """Needs ana, ben, kind, folder and keep of the scenario."""

    def find_file(self, path):
        if self.ana.isVi:
            self.ana.command("edit " + path, "")
        else:
            self.ana.press("C-x", "C-f")
            self.ana.sees("Find file:")
            self.ana.answer(path)

    def invite_ben(self):
        self.ana.command("NotesInvite Ben", "notes-invite")
        if not self.ana.isVi:
            self.ana.sees("Invite:")
            self.ana.type("Ben")
            self.ana.press("Tab", "Enter")

    def begin_with_a_name(self):
        """Whose first command is to say a name is asked for it once, and not at all if the command has it."""
        cy = type(self.ana)(self.kind, "Cy", self.folder)
        try:
            cy.sees("[No Name]" if cy.isVi else "*scratch*")
            cy.command("NotesName Cy", "notes-name")
            if not cy.isVi:
                cy.sees("Name that others see (default ")
                cy.answer("Cy", default=False)
            cy.sees("May people on this network see you?", absent=["Name that others see"])
            cy.yes()
            cy.sees("Others see you as Cy. " + (":NotesName changes it" if cy.isVi else "M-x notes-name changes it"))
        finally:
            cy.end()

    def join_from_the_list(self):
        """Whom the list shows to have come meanwhile does not count as something that was done there: the note opens."""
        di = type(self.ana)(self.kind, "Di", self.folder)
        try:
            di.sees("[No Name]" if di.isVi else "*scratch*")
            di.command("NotesPeers", "notes-peers")
            di.sees("Name that others see")
            di.answer("Di")
            di.sees("May people on this network see you?")
            di.yes()
            di.sees("Di (you)", "Others see you as Di")
            ticket = self.ticket()
            di.command(f"NotesJoin {ticket}", "notes-join", ticket)
            di.sees("Bread", "Shopping.md")
            # A meeting opens at its first item, and says where the others are.
            ticket = self.ticket("Weekly")
            di.command(f"NotesJoin {ticket}", "notes-join", ticket)
            di.sees("Minutes of Hiring")
            di.command("NotesLog", "notes-log")
            di.sees('The first item of "Weekly". ' + (":NotesAgenda" if di.isVi else "M-x notes-agenda") + " shows all")
        finally:
            di.end()

    def try_commands(self):
        """What the full scenario does at length, in a few steps; also in Neovim, of which no screens are kept."""
        ana, ben, keep = self.ana, self.ben, self.keep
        ben.go(2)
        ben.command("NotesPoint", "notes-point")
        keep("ben-points", "Ben points at line 2. " + (":NotesGo Ben" if ana.isVi else "M-x notes-go"))
        ana.command("NotesFollow Ben", "notes-follow")
        keep("following", "Following")
        ana.press(*(["l"] if ana.isVi else ["C-f"]))
        keep("stopped", "Stopped following")
        if ana.isVi:
            for access, words in [("read", "Ben can read this note"), ("write", "Ben can edit this note")]:
                ana.command(f"NotesAccess Ben {access}", "")
                keep("access", words)
            ana.command("NotesShare read uses=3 days=2", "")
            keep("a-ticket-with-options", "Anyone with this ticket can read this note (3 uses)",
                 "You must both be online, and in reach of each other, by ")
            ana.command("NotesTicket", "")
            keep("the-ticket-is-closed", "Bread", absent=["Anyone with this ticket"])
        # A person who has the note is not invited again; a plain file becomes a note with its first invitation.
        self.invite_ben()
        keep("already-there", 'Ben already has "Shopping"')
        plain = ana.home + "/plain.txt"
        with open(plain, "w") as file:
            file.write("Salt\n")
        self.find_file(plain)
        ana.sees("Salt")
        self.invite_ben()
        keep("invited", "Invited Ben", "[note]" if ana.isVi else "(Text Note)")
        ana.command("NotesStatus", "notes-status")
        keep("the-file-is-a-note", "Stored")
        if ana.isVi:
            ana.command("buffer Shopping.md", "")
        else:
            ana.command("", "switch-to-buffer", "Shopping.md")
        ana.sees("Bread")
        # A list of what there is not leaves no window; one in another leads back there.
        ana.command("NotesAgenda", "notes-agenda")
        keep("no-meeting", 'Not a meeting: "Shopping"', absent=["agenda]", "*notes agenda*"])
        # Nor is a title for an item asked for.
        ana.command("NotesItem", "notes-item")
        keep("no-item", 'Not a meeting: "Shopping"', absent=["Title of the item"])
        # A key, after which that counts as read, and news may follow.
        ana.press(*(["h"] if ana.isVi else ["C-b"]))
        for former, title in [("Shopping", "Groceries"), ("Groceries", "Shopping")]:
            ben.command(f"NotesRename {title}", "notes-rename")
            if not ben.isVi:
                ben.sees("New title:")
                ben.answer(title)
            keep("renamed-by-ben", f'Ben renamed "{former}" to "{title}"')
        if ana.isVi:
            for _ in range(2):
                ana.command("NotesHistory", "")
                ana.sees("[Notes history]")
                ana.type("d")
                ana.sees("[Notes diff]")
                ana.type("q")
                ana.sees("[Notes history]", absent=["[Notes diff] [-]"])
                ana.type("q")
                ana.sees("Shopping.md", absent=["[Notes history] [-]"])
        else:
            ana.command("", "notes-history")
            ana.sees("*notes history*", "What changed")
            ana.type("d")
            ana.sees("@@ line", "Ben")
            ana.type("q")
            ana.sees("Shopping.md", absent=["*notes diff*", "*notes history*"])
        # A list beside the note counts its words without anything being saved.
        ana.command("Notes", "notes")
        keep("counted", "4 words")
        ben.write("Red or white")
        keep("counted-again", "7 words")
        ana.type("q")
        ana.sees("Red or white", absent=["7 words"])
        # A file of the app MeetingNotes that does not exist yet.
        file = f"{ana.home}/Monthly.meetingnotes"
        self.find_file(file)
        keep("a-new-file", "Monthly.meetingnotes is new")
        if ana.isVi:
            ana.command("write", "")
        else:
            ana.press("C-x", "C-s")
        keep("a-new-file-is-saved", "No items yet")
        with open(file, "rb") as saved:
            assert saved.read(), "the new file holds nothing"
