"""reasons: why a scenario of the conformance suite does not apply to Lore, and which of its checks fail then.

A check that fails and is not named here is a failure of Lore.
"""

from typing import NamedTuple

FIXTURE = "calls a tool, prompt or resource that only the suite's own test server has"
ASKS_BACK = "needs a tool that asks the client back (elicitation, sampling, roots); no tool of Lore does"
LOGGING = "logging to clients is deprecated since 2026-07-28 and is not offered"
HEADERS = "needs a tool whose arguments are sent as headers (x-mcp-header); no tool of Lore wants that"
TASKS = "the tasks extension is not offered: no tool runs longer than one request"


class Reason(NamedTuple):
    why: str
    checks: frozenset[str]


def _because(why: str, **checks: str) -> dict[str, Reason]:
    """Scenario -> reason; a scenario's checks are separated by spaces, without any it has one of its name."""
    return {
        scenario.replace("_", "-"): Reason(why, frozenset(ids.split() or [scenario.replace("_", "-")]))
        for scenario, ids in checks.items()
    }


REASONS: dict[str, Reason] = {
    **_because(
        FIXTURE,
        completion_complete="",
        json_schema_2020_12="json-schema-2020-12-tool-found",
        prompts_get_embedded_resource="",
        prompts_get_simple="",
        prompts_get_with_args="",
        prompts_get_with_image="",
        resources_read_binary="",
        resources_read_text="",
        resources_subscribe="",
        resources_templates_read="",
        resources_unsubscribe="",
        tools_call_audio="",
        tools_call_embedded_resource="",
        tools_call_error="",
        tools_call_image="",
        tools_call_mixed_content="",
        tools_call_simple_text="",
        tools_call_with_progress="",
        server_stateless="sep-2575-server-rejects-undeclared-capability sep-2575-missing-capability-http-400"
        " sep-2575-http-server-no-independent-requests-on-stream sep-2575-server-no-log-without-loglevel",
    ),
    **_because(LOGGING, logging_set_level="", tools_call_with_logging=""),
    **_because(
        HEADERS,
        http_custom_header_server_validation="sep-2243-server-no-xmcp-tool sep-2243-server-decode-base64"
        " sep-2243-server-validate-param-match sep-2243-server-reject-invalid-param-chars"
        " sep-2243-server-reject-param-mismatch",
    ),
    **_because(
        ASKS_BACK,
        tools_call_sampling="",
        tools_call_elicitation="",
        elicitation_sep1034_defaults="elicitation-sep1034-general",
        elicitation_sep1330_enums="elicitation-sep1330-general",
        input_required_result_basic_elicitation="sep-2322-elicitation-incomplete",
        input_required_result_basic_list_roots="sep-2322-list-roots-incomplete",
        input_required_result_basic_sampling="sep-2322-sampling-incomplete",
        input_required_result_capability_check="sep-2322-respect-client-capabilities",
        input_required_result_multi_round="sep-2322-multi-round-r1",
        input_required_result_multiple_input_requests="sep-2322-multiple-inputs-incomplete",
        input_required_result_non_tool_request="sep-2322-non-tool-incomplete",
        input_required_result_request_state="sep-2322-request-state-incomplete",
        input_required_result_result_type="sep-2322-result-type-included",
        input_required_result_tampered_state="sep-2322-reject-tampered-state",
    ),
    **_because(
        TASKS,
        tasks_capability_negotiation="sep-2663-server-rejects-undeclared-client"
        " sep-2663-tasks-methods-non-declaring tasks-extension-advertised tasks-per-request-meta-opt-in",
        tasks_dispatch_and_envelope="sep-2663-durable-create-strong-consistency"
        " sep-2663-legacy-task-param-ignored sep-2663-tasks-get-invalid-task-id-32602"
        " tasks-immediate-result-shortcut tasks-result-type-complete-on-non-task-responses"
        " tasks-server-directed-creation-no-hint",
        tasks_lifecycle="sep-2663-cancel-ack-empty-result sep-2663-result-type-task-on-create"
        " sep-2663-tasks-get-status-completed sep-2663-tasks-get-status-failed"
        " sep-2663-tasks-get-status-working sep-2663-tool-error-uses-completed-status"
        " tasks-cancel-terminal-idempotent-ack tasks-sync-tool-call",
        tasks_mrtr_composition="sep-2663-mrtr-synchronous-before-task-creation",
        tasks_mrtr_input="sep-2663-tasks-get-status-input-required tasks-mrtr-partial-fulfillment"
        " tasks-mrtr-tasks-update-resumes",
        tasks_request_headers="sep-2663-routing-headers-accepted-on-tasks-get"
        " sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get"
        " tasks-headers-tolerate-mcp-method-on-tools-call",
        tasks_request_state_removal="tasks-request-state-removal-setup",
        tasks_required_task_error="sep-2663-server-returns-missing-capability-when-required",
        tasks_wire_fields="tasks-no-early-ttl-expiry tasks-no-related-task-meta-on-inlined-result"
        " tasks-wire-field-renames",
    ),
}
