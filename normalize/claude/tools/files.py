"""Calls of the tools that read, change and search files."""

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import CodeSearchPayload, ModifyFilePayload, ReadFilePayload, diff
from turnwire.normalize.payloads.fields import flag, objects, text, whole
from turnwire.normalize.payloads.files import CodeSearch, ModifyFile, Mutation, ReadFile

_PATH = ("file_path", "filePath", "notebook_path", "path")


def read(call: JsonObject) -> ReadFilePayload:
    """Read, NotebookRead."""
    return ReadFilePayload(
        read_file=ReadFile(
            file_path=_path(call),
            offset=whole(call, "offset"),
            limit=whole(call, "limit"),
            pages=text(call, "pages"),
        )
    )


def write(call: JsonObject) -> ModifyFilePayload:
    """Write. Only the result shows whether the call creates or overwrites the file."""
    return _modify(call, Mutation(type="create", content=text(call, "content") or ""))


def edit(call: JsonObject) -> ModifyFilePayload:
    """Edit: one passage, or all that are equal to it, is replaced."""
    return _modify(call, _edit(_path(call), call))


def multi_edit(call: JsonObject) -> ModifyFilePayload:
    """MultiEdit: several edits, one after the other."""
    path = _path(call)
    return _modify(call, *(_edit(path, item) for item in objects(call, "edits")))


def notebook_edit(call: JsonObject) -> ModifyFilePayload:
    """NotebookEdit: a cell's source is replaced, or a cell is added or removed."""
    cell_id, cell_type = text(call, "cell_id"), text(call, "cell_type")
    source = text(call, "new_source") or ""
    match text(call, "edit_mode"):
        case "insert":
            mutation = Mutation(type="insert", content=source, cell_id=cell_id, cell_type=cell_type)
        case "delete":
            mutation = Mutation(type="delete", cell_id=cell_id, cell_type=cell_type)
        case _:
            mutation = Mutation(type="edit", new_content=source, cell_id=cell_id, cell_type=cell_type)
    return _modify(call, mutation)


def delete_file(call: JsonObject) -> ModifyFilePayload:
    """The delete_file of other agents."""
    return _modify(call, Mutation(type="delete"))


def glob(call: JsonObject) -> CodeSearchPayload:
    """Glob: files by name."""
    return CodeSearchPayload(
        code_search=CodeSearch(
            pattern=text(call, "pattern"), path=text(call, "path"), glob=text(call, "pattern")
        )
    )


def grep(call: JsonObject) -> CodeSearchPayload:
    """Grep: files by content."""
    pattern, around = text(call, "pattern"), whole(call, "-C", "context")
    return CodeSearchPayload(
        code_search=CodeSearch(
            query=pattern,
            pattern=pattern,
            path=text(call, "path"),
            glob=text(call, "glob", "include"),
            file_type=text(call, "type"),
            mode=text(call, "output_mode") or "files_with_matches",
            line_numbers=flag(call, "-n"),
            case_insensitive=flag(call, "-i"),
            multiline=flag(call, "multiline"),
            before=whole(call, "-B") if around is None else around,
            after=whole(call, "-A") if around is None else around,
            limit=whole(call, "head_limit"),
        )
    )


def list_folder(call: JsonObject) -> CodeSearchPayload:
    """LS: the files of a folder."""
    return CodeSearchPayload(code_search=CodeSearch(path=text(call, "path")))


def _path(call: JsonObject) -> str:
    return text(call, *_PATH) or ""


def _modify(call: JsonObject, *mutations: Mutation) -> ModifyFilePayload:
    return ModifyFilePayload(modify_file=ModifyFile(file_path=_path(call), mutations=list(mutations)))


def _edit(path: str, call: JsonObject) -> Mutation:
    old = text(call, "old_string", "oldString") or ""
    new = text(call, "new_string", "newString") or ""
    return Mutation(
        type="edit",
        old_content=old,
        new_content=new,
        diff=diff.of_passages(path, old, new),
        relative=True,
        replace_all=flag(call, "replace_all", "replaceAll"),
    )
