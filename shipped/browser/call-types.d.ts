/** A message of the agent, before it is checked. */
interface AgentMessage {
  type?: unknown;
  call_id?: unknown;
  session_id?: unknown;
  webrtc_offer?: { sdp?: unknown };
  candidate?: string | RTCIceCandidateInit;
  transcript?: { user?: unknown; agent?: unknown };
  metadata?: { interrupted?: unknown };
  evaluation_metadata?: { appropriate_response?: unknown };
  tool_calls?: unknown;
  error?: { code?: unknown; message?: unknown };
}

/** A turn of a call: what is stored of it, and its row on the page. */
interface CallTurn {
  latencyMs: number | undefined;
  userInput: string;
  agentResponse: string;
  toolCalls: unknown[];
  row: HTMLTableRowElement;
}
