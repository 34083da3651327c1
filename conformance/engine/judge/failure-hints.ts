import type { Finding } from '../checks/check.ts';
import { crashesOf } from '../transcript/crashes.ts';
import type { Crash, Exchange, Transcript } from '../transcript/transcript.ts';
import { findHtmlPage } from '../transcript/html-page.ts';
import { isTransient, repetitionOf, wasAlone } from '../transcript/repetitions.ts';
import { formatSeconds } from '../../../src/report-kit/format.ts';

/**
 * Adds to a finding about a failed request whether the peer crashed, what happened when the request was
 * sent again, alone, and what to do about an HTML page that came instead of JSON.
 */
export function explainFailure(finding: Finding, transcript: Transcript): Finding {
  const exchange = transcript.exchanges.find(({ id }) => id === finding.exchange);
  if (!exchange) return finding;
  const crash = crashesOf(transcript).find(({ suspects }) => suspects.includes(exchange));
  const hints = [
    crash ? crashHint(exchange, crash) : undefined,
    repetitionHint(exchange, transcript),
    pageHint(exchange),
  ].filter((hint) => hint !== undefined);
  if (hints.length === 0) return finding;
  return {
    ...finding,
    ...(crash && { received: `${finding.received}; ${describeOutage(crash)}` }),
    hint: [...hints, ...(finding.hint === undefined ? [] : [finding.hint])].join(' '),
  };
}

/** Describes the outage: "then the sandbox accepted no connections for 1.2 s". */
function describeOutage({ downMs, cameBack }: Crash): string {
  return cameBack
    ? `then no connection was accepted for ${formatSeconds(downMs, 1)}`
    : `then no more connections were accepted`;
}

function crashHint(exchange: Exchange, { culprits, suspects }: Crash): string | undefined {
  if (culprits.includes(exchange)) {
    return 'This request stopped the sandbox twice, the second time alone. Look for its error in the log.';
  }
  if (suspects.length < 2)
    return 'The sandbox stopped during this request. Look for its error in the log.';
  return `The sandbox stopped while ${suspects.length} requests were in flight. Look for its error in the log.`;
}

function pageHint(exchange: Exchange): string | undefined {
  const page = findHtmlPage(exchange);
  return page && `${page.cure}.`;
}

function repetitionHint(exchange: Exchange, transcript: Transcript): string | undefined {
  const repetition = repetitionOf(exchange, transcript);
  if (!repetition || !isTransient(exchange, transcript)) return undefined;
  const again = `exchange ${repetition.id}`;
  const status = repetition.response?.status ?? 0;
  // A refusal, such as that of a key, says nothing about the fault.
  if (status >= 400) return `The same request got ${status} when it was sent again (${again}).`;
  return wasAlone(exchange, transcript)
    ? `The same request succeeded when it was sent again (${again}): the fault is intermittent.`
    : `The same request succeeded when it was sent again alone (${again}): the fault depends on other requests or on load, not on the form of this request.`;
}
