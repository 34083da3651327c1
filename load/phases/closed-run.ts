import type { SecureContextOptions } from 'node:tls';
import { formatCount } from '../../src/report-kit/format.ts';
import { startAutocannon, type NextRequest } from '../engines/autocannon.ts';
import { withHeaders } from '../engines/transport.ts';
import { createResponseValidator, type ValidatedResult } from '../profiles/validate-response.ts';
import { createRecorder } from '../record/recorder.ts';
import { startMeter } from '../self-check/meter.ts';
import { ExchangeLog } from './exchange-log.ts';
import { createRunEnd, type RequestRun, type RequestRunParts, type RunEnd } from './request-run.ts';
import { watchRun } from './watch.ts';

/** Dependencies of a closed run. */
export interface ClosedRunParts extends RequestRunParts {
  /** Base URL of the sandbox. */
  target: string;
  /** CA and client certificate. */
  tls: SecureContextOptions;
  connections: number;
}

/** A sandbox that refuses connections gets thousands of requests per second, so this takes no time. */
const FAILED_IN_A_ROW_MAX = 1_000;

/**
 * Sends requests with autocannon for the whole steady state: each connection sends the next one after a
 * response. Each request is due when it is sent, so response times do not include any waiting.
 */
export async function runClosed(parts: ClosedRunParts): Promise<RequestRun> {
  const { clock, traffic, plan, target, tls, connections } = parts;
  const { main, streams, open } = traffic;
  const [stream] = open;
  if (!stream) throw new Error(`The profile ${plan.profile} has no requests for a closed loop.`);
  const record = createRecorder({ windowMs: plan.windowMs, streams, main });
  const windowStartedAtMs = clock.nowMs();
  const windowStartMs = clock.monotonicMs();
  const sinceStart = (): number => clock.monotonicMs() - windowStartMs;
  const end = createRunEnd(parts.signal);
  const log = new ExchangeLog({
    clock,
    recorder: record,
    createHeaders: traffic.createHeaders,
    redact: parts.redact,
    validate: createResponseValidator(parts.validateResponse, traffic.markers),
    windowStartMs,
    onResult: createStopRule(end),
  });
  let sentCount = 0;
  const next = (): NextRequest => {
    const request = stream.nextRequest();
    const dueMs = sinceStart();
    if (sentCount >= plan.requests) end.endEarly({ kind: 'full' });
    // autocannon goes on for some milliseconds after the end.
    if (end.over.aborted || dueMs >= plan.windowMs) {
      const headers = traffic.createHeaders(request.name);
      return { outgoing: withHeaders(request.outgoing, headers), onEnd: () => {} };
    }
    sentCount++;
    record.recordDue(request.stream, dueMs);
    const exchange = log.begin(request, dueMs);
    return { outgoing: exchange.outgoing, onEnd: exchange.end };
  };
  const watching = watchRun({ ...parts, record, sinceStart, end });
  const stopMeter = startMeter(clock);
  const run = startAutocannon({
    target,
    tls,
    clock,
    connections,
    next,
    timeoutMs: stream.nextRequest().deadlineMs,
    onUnreadable: () => end.endEarly({ kind: 'unreadable' }),
  });
  await Promise.race([clock.sleep(plan.windowMs, end.over).catch(() => undefined), run.ended]);
  const ranMs = Math.min(plan.windowMs, sinceStart());
  const cost = stopMeter();
  log.abandon();
  record.dropInFlight();
  await run.stop();
  end.finish();
  await watching;
  await log.waitUntilValidated();
  return {
    record,
    ranMs: end.early ? ranMs : plan.windowMs,
    missed: 0,
    cost,
    earlyEnd: end.early,
    windowStartedAtMs,
  };
}

/** Ends the run if the sandbox refuses the key or is down. */
function createStopRule(end: RunEnd): (result: ValidatedResult) => void {
  let failedInARow = 0;
  return ({ fault, detail }) => {
    failedInARow = fault === undefined ? 0 : failedInARow + 1;
    if (fault === 'unauthorized') end.endEarly({ kind: 'unauthorized', detail });
    else if (fault !== undefined && failedInARow >= FAILED_IN_A_ROW_MAX) {
      const count = formatCount(failedInARow, 'request');
      end.endEarly({ kind: 'down', detail: `${count} in a row failed (${fault})` });
    }
  };
}
