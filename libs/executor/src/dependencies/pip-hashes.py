# Prints {"name==version": ["sha256:…"]} for the arguments: the hashes of all files of a version in the index, for every
# platform. pip itself reports only the file that this machine uses, so its finder is asked for all links.
import json
import sys

from pip._internal.commands import create_command
from pip._internal.index.package_finder import LinkEvaluator
from pip._vendor.packaging.utils import (
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import Version

links = []
evaluate = LinkEvaluator.evaluate_link


def remember(self, link):
    links.append(link)
    return evaluate(self, link)


def version_of(link):
    name = link.filename
    try:
        parsed = parse_wheel_filename(name) if name.endswith(".whl") else parse_sdist_filename(name)
    except Exception:
        return None
    return parsed[1]


LinkEvaluator.evaluate_link = remember
command = create_command("download")
options, _ = command.parse_args([])
found = {}
with command.main_context():
    finder = command._build_package_finder(options, command.get_default_session(options))
    for wanted in sys.argv[1:]:
        name, text = wanted.split("==")
        version = Version(text)
        links.clear()
        finder.find_all_candidates(canonicalize_name(name))
        hashed = [link for link in links if link.hash_name == "sha256" and version_of(link) == version]
        found[wanted] = sorted({f"sha256:{link.hash}" for link in hashed})
print(json.dumps(found))
