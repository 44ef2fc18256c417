# The working folder of each step: the same place every time, empty at the start of each.
import os
import shutil
import subprocess


class WorkFolder:
    def __init__(self, directory):
        self.dir = directory

    def enter(self):
        """Cheap when the step before left nothing, which is the rule."""
        try:
            self._clean()
            if os.getcwd() != self.dir:
                os.chdir(self.dir)
        except (OSError, RecursionError):
            self._force()

    def _force(self):
        """The step before removed the folder itself, or took away the rights to it or to something in it."""
        os.chdir("/")
        os.makedirs(self.dir, exist_ok=True)
        subprocess.run(["chmod", "-R", "u+rwx", self.dir], check=False, stderr=subprocess.DEVNULL)
        # Nested deeper than Python calls itself.
        places = [entry.path for entry in os.scandir(self.dir)]
        subprocess.run(["rm", "-rf", "--", *places], check=False, stderr=subprocess.DEVNULL)
        os.chdir(self.dir)

    def _clean(self):
        with os.scandir(self.dir) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)
