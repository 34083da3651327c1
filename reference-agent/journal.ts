import { formatEntry, type JournalEntry, type RequestJournal } from '../src/http-kit/journal.ts';
import type { AgentRequest } from './controls.ts';

/** A request to the agent and its response. */
export interface AgentJournalEntry extends JournalEntry {
  /** From the response's `Content-Length`; 0 without one. */
  responseBytes: number;
  /** Truncated bodies; undefined when the journal stores none. */
  requestBody?: string | undefined;
  responseBody?: string | undefined;
}

/** The most recent requests to the agent. */
export type AgentJournal = RequestJournal<AgentJournalEntry>;

const BODY_LENGTH_MAX = 16_384;

/** Returns an entry as `/__admin/requests` shows it. */
export function formatAgentEntry(entry: AgentJournalEntry): AgentRequest {
  const { responseBytes, requestBody, responseBody } = entry;
  return {
    ...formatEntry(entry),
    response_bytes: responseBytes,
    ...(requestBody !== undefined && { request_body: requestBody }),
    ...(responseBody !== undefined && { response_body: responseBody }),
  };
}

/** Returns a body truncated to the length that the journal stores. */
export function truncateBody(body: string | undefined): string | undefined {
  return body?.slice(0, BODY_LENGTH_MAX);
}
