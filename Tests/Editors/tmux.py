"""A program in a tmux of its own: its keys and its screen."""
import subprocess
import time


class Tmux:
    # Seconds after each key of `press`.
    key_pause = 0

    def start(self, socket, columns, *command):
        """Starts the command in a window of 24 rows; a single argument is a command line for the shell."""
        self.socket = socket
        self.tmux("new-session", "-d", "-x", str(columns), "-y", "24", *command)
        self.tmux("set-option", "-sg", "escape-time", "0")

    def tmux(self, *arguments):
        command = ["tmux", "-S", self.socket, "-f", "/dev/null", "-u", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def screen(self):
        return "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-p").split("\n"))

    def type(self, text):
        self.tmux("send-keys", "-l", "--", text)

    def press(self, *keys):
        """Presses keys by their tmux names, such as `Escape`, `Enter`, `C-x`."""
        for key in keys:
            self.tmux("send-keys", key)
            time.sleep(self.key_pause)

    def end(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)
