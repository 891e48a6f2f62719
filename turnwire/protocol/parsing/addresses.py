"""Web addresses, read as browsers and Node read them: by the URL standard of WHATWG, which Ada implements."""

from msgspec import Struct


class Address(Struct, frozen=True):
    """The parts of an address, normalized."""

    scheme: str
    """`https`, `file`, …"""
    host: str
    """In ASCII and lower case, numbers as dotted IPv4; "" for none."""
    port: str
    """"" for the scheme's own."""
    rest: str
    """Path, query and fragment."""
    has_credentials: bool
    """Whether the address contains a user or a password."""

    @property
    def is_web(self) -> bool:
        """True for http and https on their own ports, without credentials."""
        return self.scheme in ("http", "https") and not self.port and not self.has_credentials

    def spelled(self, *, port: bool = True) -> str:
        """Return the address without credentials."""
        return f"{self.scheme}://{self.host}{':' if port and self.port else ''}{self.port if port else ''}{self.rest}"


def read_address(text: str) -> Address | None:
    """Parse an absolute address; None if the standard refuses it."""
    import ada_url  # noqa: PLC0415  only where an address is read: it loads a library in C

    try:
        read = ada_url.parse_url(text)
    except ValueError:  # no address, or half a character
        return None
    return Address(
        read["protocol"].removesuffix(":"),
        read["hostname"],
        read["port"],
        read["pathname"] + read["search"] + read["hash"],
        bool(read["username"] or read["password"]),
    )
