/** Each finding has the hint for its own cause. */
import t from 'tap';
import { serviceSuite, suiteOf } from '../../conformance/areas/index.ts';
import { check, reportOf } from '../../conformance/index.ts';
import { set } from '../../conformance/engine/mutants/combinators.ts';
import { editHealth } from '../../conformance/areas/sandbox-responses.ts';
import { mutants, serviceMutants } from '../../conformance/areas/mutants.ts';
import type { Mutant } from '../../conformance/engine/mutants/mutant.ts';
import { replay } from '../../conformance/proof/replay.ts';
import type { Area, CheckReport } from '../../src/contract/index.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { recordRun } from '../support/conformance/checked-service.ts';
import { recordSandboxOnce, recordServiceOnce } from '../support/conformance/recorded-runs.ts';
import { withDistortion } from '../support/sandboxes/distortions.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';
import { withStartedService } from '../support/services/started-service.ts';

/** Checks a sandbox, or a service with its key. */
async function checkAreas(
  target: string,
  areas: readonly Area[],
  apiKey?: string,
): Promise<CheckReport> {
  return (await check({ target, kitVersion: 'test', seed: 'hints', areas, apiKey })).report;
}

/** Judges an intrusive run of the probes that show a requirement, because all of them take long. */
async function checkIntrusively(
  service: { url: string; apiKey: string },
  requirement: string,
): Promise<CheckReport> {
  const probes = serviceSuite.probes
    .filter(({ exercises, cleansUp }) => cleansUp ?? exercises.some((id) => id === requirement))
    .flatMap((probe) => [probe, ...(probe.needs ?? [])]);
  const transcript = await recordRun(service, { probes, seed: requirement });
  return reportOf(transcript, transcript.run.startedAt);
}

const rows: readonly (readonly [mutant: string, requirement: string, hint: RegExp | undefined])[] =
  [
    [
      'users/accepts-duplicates',
      'USERS-066',
      /^Look up the id before .* respond with 409, the type duplicate_user_error, and the code user_exists\.$/,
    ],
    [
      'users/duplicate-500',
      'USERS-066',
      /^Catch the conflict of ids, and respond with 409, the type duplicate_user_error, and the code user_exists\.$/,
    ],
    [
      'users/duplicate-bad-request',
      'USERS-075',
      /^If the user exists, respond with 409, the type duplicate_user_error, and the code user_exists\.$/,
    ],
    [
      'users/concurrent-creation-500',
      'USERS-067',
      /the type duplicate_user_error, and the code user_exists\.$/,
    ],
    ['users/accepts-line-break', 'USERS-062', /\$ also matches before a final line break/],
    ['users/accepts-dot', 'USERS-062', /letters, digits, and underscores/],
    ['users/accepts-65-characters', 'USERS-063', /at most 64 characters/],
    ['users/accepts-empty-id', 'USERS-064', /at least one character/],
    ['users/accepts-user-id-null', 'USERS-061', /is a string/],
    ['users/accepts-body-empty', 'USERS-065', /body is a JSON object/],
    ['users/no-object-500', 'USERS-065', /error of the JSON parser/],
    ['users/error-empty', 'USERS-070', /^The shape is/],
    ['chat/accepts-message-a-string', 'CHAT-061', /`messages` is an array of objects/],
    ['chat/accepts-messages-null', 'CHAT-061', /`messages` is an array of objects/],
    ['chat/accepts-role-tool', 'CHAT-063', /^Check that the role/],
    ['chat/accepts-content-null', 'CHAT-065', /^Check that the content/],
    ['chat/content-null-500', 'CHAT-065', /respond with 400/],
    ['chat/content-parts', 'CHAT-024', /^Join the parts/],
    ['chat/content-null', 'CHAT-024', /Send "" if there is no text/],
    ['chat/confidence-percentage', 'CHAT-034', /not a percentage/],
    ['chat/confidence-a-string', 'CHAT-034', undefined],
    ['chat/tool-calls-null', 'CHAT-040', /^Omit the field/],
    ['chat/tool-call-a-string', 'CHAT-040', /array of objects/],
    ['chat/waits-for-tools', 'CHAT-046', /^Add the result of the tool/],
    ['chat/call-arguments-encoded-twice', 'CHAT-045', /^Encode the arguments once/],
    ['chat/accepts-body-with-text-after-the-json', 'CHAT-066', /json\.NewDecoder in Go/],
    ['users/accepts-body-with-single-quotes', 'USERS-065', /^Use a strict JSON parser/],
    ['chat/greets-the-latest-user', 'CHAT-050', /^Look up the profile by the `user_id`/],
    ['chat/collects-tool-calls', 'CHAT-050', /^Start an empty list of tool calls/],
    ['chat/finish-reason-camel-case', 'CHAT-039', /without a conversion to camel case/],
    ['chat/session-id-escaped', 'CHAT-030', /^Echo the session id unchanged: .* as HTML\.$/],
    ['chat/session-id-ascii', 'CHAT-030', /^Echo the session id as UTF-8: .* were replaced\./],
    ['chat/session-id-upper-case', 'CHAT-030', /uppercase or lowercase/],
    ['chat/session-id-cut', 'CHAT-030', /^Echo the whole session id: it was cut after 32 /],
    ['chat/session-id-prefixed', 'CHAT-030', /without a prefix/],
    ['chat/session-id-its-own', 'CHAT-030', /^Echo the session id of this request/],
    ['chat/session-id-a-number', 'CHAT-029', /^Send an id as a string/],
    ['users/user-id-a-number', 'USERS-020', /^Send an id as a string/],
    ['users/created-at-unix', 'USERS-022', /^Convert the Unix time/],
    ['users/deleted-at-http-date', 'USERS-032', /^Send a string such as "2026-/],
    ['health/timestamp-unix', 'HEALTH-011', /^Convert the Unix time/],
    ['health/uptime-fraction', 'HEALTH-013', /^Round it to whole seconds/],
    ['chat/call-result-a-string', 'CHAT-046', /^Send the result itself/],
    ['service/traces-without-key', 'SERVICE-029', /^Require the API key header/],
    ['service/end-any-key', 'SERVICE-030', /^Look the API key up/],
    ['service/traces-longer-key', 'SERVICE-177', /^Compare the whole API key/],
    ['service/no-type-taken', 'SERVICE-186', /^Require a content type/],
    ['service/closes-by-itself', 'SERVICE-181', /^Close a conversation only on its end call/],
    ['service/any-type-taken', 'SERVICE-022', /^Check Content-Type first/],
    ['service/no-id-taken', 'SERVICE-020', /X-Conversation-Id/],
    ['service/no-id-422', 'SERVICE-020', /change it to 400/],
    ['service/known-by-prefix', 'SERVICE-048', /^Compare whole ids byte by byte/],
    ['service/known-in-other-case', 'SERVICE-065', /^Compare whole ids byte by byte/],
    ['service/rate-503', 'SERVICE-026', /^Respond with 429 and Retry-After/],
    ['service/too-large-dropped', 'SERVICE-023', /^Respond with 413 as soon as/],
    ['service/response-trimmed', 'SERVICE-101', /^Store and return texts as they are sent/],
    ['service/own-session-id', 'SERVICE-219', /^Return the conversation id of the spans/],
    ['service/resent-overwrites', 'SERVICE-223', /^Ignore a span whose id is already stored/],
    ['service/production-eval-ascii-case', 'SERVICE-111', /^Ignore the case of all letters/],
    ['service/production-after-by-second', 'SERVICE-117', /fractions of a second/],
    [
      'service/production-after-exclusive',
      'SERVICE-117',
      /^Keep the sessions that start exactly.*>= instead of >\.$/,
    ],
    ['service/simulations-before-exclusive', 'SERVICE-154', /<= instead of <\.$/],
    ['service/simulations-after-by-end', 'SERVICE-153', /^Compare `started_at` of sessions/],
    [
      'service/url-without-session',
      'SERVICE-083',
      /^Send the id of the session in the query parameter sessionId of the link\. Found no query\.$/,
    ],
    [
      'service/url-other-path',
      'SERVICE-083',
      /^End the path of the link with \/production-eval\/ and the id/,
    ],
    ['service/production-url-relative', 'SERVICE-083', /^Start the link with the address/],
    ['service/repeat-409', 'SERVICE-045', /^Keep a conversation after it is closed/],
    ['service/plus-as-space', 'SERVICE-066', /a \+ in a path is a plus sign/],
    [
      'service/encoded-ids-unknown',
      'SERVICE-066',
      /^Split the path at its slashes before you decode the id, and decode it only once\.$/,
    ],
    [
      'service/first-resource-alone',
      'SERVICE-165',
      /^Read every entry of resourceSpans and of scopeSpans\.$/,
    ],
    ['service/first-scope-alone', 'SERVICE-165', /^Read every entry of scopeSpans\.$/],
    ['service/simulations-failed-ignored', 'SERVICE-149', /^Apply `failed_only`/],
    ['service/start-of-first-arrival', 'SERVICE-091', /^It is the start of a later span/],
    ['service/turns-of-one-request', 'SERVICE-099', /^Read every span of a scope\.$/],
    ['service/production-beyond-wraps', 'SERVICE-206', /^Apply skip even without limit/],
    ['service/idle-since-first-span', 'SERVICE-059', /^Count the 24 hours from the arrival/],
    ['service/ids-told-folded', 'SERVICE-065', /^Return the id as the spans have it/],
  ];

void t.test('each failure has the hint for its cause', async (t) => {
  const agent = await startTextAgent(t);
  const service = await withStartedService(t);
  const recordings = {
    sandbox: await recordSandboxOnce(),
    service: (await recordServiceOnce()).transcript,
  };
  const checkLive = async (mutant: Mutant, requirement: string): Promise<CheckReport> => {
    const { transform, areas, intrusive = false } = mutant;
    const { url: upstream, apiKey } = areas.includes('service') ? service : { url: agent };
    const url = await withDistortion(t, upstream, transform);
    if (!intrusive || apiKey === undefined) return checkAreas(url, areas, apiKey);
    return checkIntrusively({ url, apiKey }, requirement);
  };
  for (const [id, requirement, hint] of rows) {
    const mutant = [...mutants, ...serviceMutants].find((one) => one.id === id);
    if (!mutant) throw new Error(`Unknown mutant ${id}`);
    const suite = suiteOf(mutant);
    const isServiceMutant = suite.peer === 'service';
    const recording = isServiceMutant ? recordings.service : recordings.sandbox;
    // Another answer to a burst changes how long the run goes on with it.
    const transcript = mutant.intrusive
      ? undefined
      : (await replay(mutant, suite, recording)).transcript;
    const report = transcript
      ? reportOf(transcript, transcript.run.startedAt)
      : await checkLive(mutant, requirement);
    const row = rowOf(report, requirement);
    const broken = row?.level === 'should' ? 'warn' : 'fail';
    t.equal(row?.verdict, broken, `${id} breaks ${requirement}`);
    if (hint) t.match(row?.hint, hint, id);
    else t.equal(row?.hint, undefined, `${id} has no hint`);
  }
});

const skews: readonly (readonly [offMs: number, received: RegExp, hint: RegExp])[] = [
  [200_000, /^3 min (19|20|21) s ahead$/, /NTP/],
  [-200_000, /^3 min (19|20|21) s behind$/, /NTP/],
  [7_200_000, /^(2 h|1 h 59 min|2 h 1 s) ahead$/, /local time/],
  [-5.5 * 3_600_000, /^5 h (30|29) min behind$/, /local time/],
  [12 * 3_600_000, /^(12 h|11 h 59 min|12 h 1 s) ahead$/, /12-hour clock/],
  [-40 * 86_400_000, /^(40 d|39 d 23 h) behind$/, /NTP/],
];

void t.test('a clock skew is reported in readable units, with the likely cause', async (t) => {
  const agent = await startTextAgent(t);
  for (const [offMs, received, hint] of skews) {
    const now = (): string => isoTime(systemClock.nowMs() + offMs);
    const off = editHealth(set('/timestamp', now));
    const report = await checkAreas(await withDistortion(t, agent, off), ['health']);
    const row = rowOf(report, 'HEALTH-033');
    t.equal(row?.verdict, 'note');
    t.match(row?.received, received);
    t.match(row?.hint, hint);
  }
});
