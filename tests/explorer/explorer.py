"""The explorer as a test uses it: its window, and an agent that calls the same server."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.doors.http.serving import Server


@dataclass(frozen=True)
class Explorer:
    """A window with the explorer. page: the browser's page. server: for calls as an agent makes them."""

    page: Page
    server: Server

    @property
    def address(self) -> str:
        """The address below which all pages are."""
        return f"http://127.0.0.1:{self.server.port}/explorer/"

    def open(self, path: str = "") -> Page:
        """Load a page of the explorer and wait until it shows its content."""
        self.page.goto(f"{self.address}{path}")
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until nothing on the page is still loading."""
        self.page.locator("h1").first.wait_for()
        expect(self.page.locator(".bones")).to_have_count(0)

    def call(self, verb: str, arguments: object = None) -> Any:
        """The result of a verb, called by an agent rather than by the page."""
        answer = self.server.call(verb, arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def remember(self, content: str, **fields: Any) -> str:
        """The id of a new memory."""
        return str(self.call("remember", {"draft": {"content": content, **fields}})["id"])

    def toast(self, text: str) -> Locator:
        """A message with this text."""
        return self.page.get_by_role("status").locator(".toast", has_text=text)
