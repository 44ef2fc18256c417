# Finds by its syntax tree that code changes modules it imports: such a change would remain for the next step, and no
# check of the process afterwards could find all of them.
import ast

# Restored before each step.
RESTORED = {("os", "environ"), ("sys", "path"), ("sys", "argv"), ("sys", "stdout"), ("sys", "stderr"), ("sys", "stdin")}
CALLS = {"setattr", "delattr"}


def impurity_of(tree):
    """A reason, or None."""
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                imported[name] = alias.name.split(".")[0]
    for node in ast.walk(tree):
        for target in changed_by(node):
            root, first = root_of(target)
            if root in imported and (imported[root], first) not in RESTORED:
                return f"the step changes the module {imported[root]}"
    return None


def changed_by(node):
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS and node.args:
        return [ast.Attribute(value=node.args[0], attr="", ctx=ast.Store())]
    else:
        return []
    flat = []
    while targets:
        target = targets.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            targets.extend(target.elts)
        elif isinstance(target, ast.Starred):
            targets.append(target.value)
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            flat.append(target)
    return flat


def root_of(target):
    """`os.environ["A"]` → os, environ."""
    first = None
    node = target
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            first = node.attr
        node = node.value
    return (node.id if isinstance(node, ast.Name) else None), first
