import { resolvePointer } from '../../../src/contract/index.ts';
import { createArea } from '../../engine/area.ts';
import { serviceEndpoints } from '../../engine/checks/route-names.ts';
import { isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { keys } from './authentication/keys.ts';
import { keys as keysProbe } from './authentication/probes.ts';
import { alreadyClosed } from './close/already-closed.ts';
import { idleConversations } from './close/idle.ts';
import { knownConversations } from './close/known-conversations.ts';
import { openConversations } from './close/open-conversations.ts';
import { conversations, settings } from './close/probes.ts';
import { queuedEvals } from './close/queued-evals.ts';
import { closeResponse } from './close/response.ts';
import { runs } from './close/runs.ts';
import { unknownConversations } from './close/unknown-conversations.ts';
import { unscored } from './close/unscored.ts';
import { controlApiAbsence } from './control-api/absence.ts';
import { CLOCK_RESET_STEP, clockReset, controlSetup, ingestLog } from './control-api/probes.ts';
import { backlogScoring } from './conversations/backlog.ts';
import { conversationIds } from './conversations/ids.ts';
import { backlog, ids, lateSpans } from './conversations/probes.ts';
import { conversationSpans } from './conversations/spans.ts';
import { observeService } from './observed.ts';
import { preflight } from './preflight.ts';
import { responses } from './responses.ts';
import { failedOnly } from './results/failed-only.ts';
import { links } from './results/links.ts';
import { listedConversations } from './results/listed-conversations.ts';
import { nameFilters } from './results/name-filters.ts';
import { order } from './results/order.ts';
import { outcomes } from './results/outcomes.ts';
import { ownership } from './results/ownership.ts';
import { pages } from './results/pages.ts';
import { paging } from './results/paging.ts';
import { manySessions, production, simulations } from './results/probes.ts';
import { scoredConversations } from './results/scored-conversations.ts';
import { sentTexts } from './results/sent-texts.ts';
import { sentTurns } from './results/sent-turns.ts';
import { sessionTimes } from './results/session-times.ts';
import { sessions } from './results/sessions.ts';
import { timeFilters } from './results/time-filters.ts';
import { totals } from './results/totals.ts';
import { turns } from './results/turns.ts';
import { acceptedTraces } from './traces/accepted.ts';
import { limits, refusals, unspecified } from './traces/probes.ts';
import { rate } from './traces/rate-probe.ts';
import { traceRate } from './traces/rate.ts';
import { refusedTraces } from './traces/refusals.ts';
import { traceSizes } from './traces/sizes.ts';
import { isStep } from './transcript.ts';
import { HOUR_MS } from '../../../src/platform/clock.ts';

/** The evaluation service (spec area A). */
export const service = createArea({
  name: 'service',
  endpoints: [...serviceEndpoints, 'admin'],
  subjects: [
    responses,
    ...[keys, controlApiAbsence],
    ...[acceptedTraces, refusedTraces, traceSizes, traceRate],
    ...[closeResponse, knownConversations, unknownConversations, openConversations],
    ...[alreadyClosed, queuedEvals, runs, unscored, idleConversations],
    ...[conversationSpans, backlogScoring, conversationIds],
    ...[pages, paging, totals, order, ownership],
    ...[sessions, links, sessionTimes, outcomes, sentTurns, sentTexts, turns],
    ...[listedConversations, scoredConversations, nameFilters, timeFilters, failedOnly],
  ],
  probes: [
    ...[preflight, controlSetup],
    ...[conversations, settings, lateSpans, backlog, ids],
    ...[refusals, keysProbe, unspecified],
    ...[production, simulations, manySessions, ingestLog],
    ...[limits, rate, clockReset],
  ],
  observe: observeService,
  notices,
});

/** Warns that the run advanced the service clock and could not reset it. */
function notices({ exchanges }: Transcript): readonly string[] {
  const controls = exchanges.filter(
    (exchange) => exchange.endpoint === 'admin' && isAccepted(exchange),
  );
  if (controls.some((exchange) => isStep(exchange, 'admin', CLOCK_RESET_STEP))) return [];
  const advancedMs = controls
    .map(({ sent }) => resolvePointer(sent, '/advance_ms'))
    .reduce((sum: number, ms) => sum + (typeof ms === 'number' ? ms : 0), 0);
  if (advancedMs === 0) return [];
  const hours = Math.round((advancedMs / HOUR_MS) * 10) / 10;
  return [
    `The run advanced the service clock by ${hours} hours and could not reset it. Restart the service to reset the clock.`,
  ];
}
