import type {
  CauseExample,
  CheckReport,
  EvidenceItem,
  BlockedBy,
  RequirementVerdict,
  RunRecord,
} from '../../src/contract/index.ts';
import { TRACEPARENT, traceIdOf } from '../../src/platform/trace-context.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { requirementOf, type Suite } from '../engine/area.ts';
import { findHttpWaiver } from '../engine/checks/https.ts';
import type { Finding } from '../engine/checks/check.ts';
import { findCauses, type FoundCause } from '../engine/judge/causes.ts';
import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';
import {
  isAddedLater,
  judgeTranscript,
  type Judgment,
  type RequirementResult,
  type JudgeOptions,
} from '../engine/judge/judge.ts';
import { areaOf, type RequirementId } from '../engine/requirement.ts';
import { newestRequirementSet, sinceOf } from '../requirement-sets.ts';
import { crashesOf } from '../engine/transcript/crashes.ts';
import { findWholeMessage } from '../engine/transcript/own-message.ts';
import { describeVersionChange, findAgentVersion } from './agent-version.ts';
import { callsOf } from './calls.ts';
import { coverageOf } from './coverage.ts';
import { crashRows, describeCrashes } from './crashes.ts';
import { createExcerpt } from '../resend/excerpt.ts';
import { callCommand, requestCommand } from './curl.ts';
import {
  type Exchange,
  type Transcript,
  describeOutcome,
  isUnsent,
} from '../engine/transcript/reading.ts';

/** The most exchanges to list per requirement; the recording has all of them. */
const EVIDENCE_MAX = 10;

/** Judges a transcript, and builds the report that every other format is rendered from. */
export function createReport(
  suite: Suite,
  transcript: Transcript,
  endedAt: string,
  options: JudgeOptions = {},
): CheckReport {
  const { run } = transcript;
  const { name: requirementSet } = options.requirementSet ?? newestRequirementSet ?? {};
  const judgment = judgeTranscript(suite, transcript, options);
  const isClient = suite.peer === 'client';
  const waiver = isClient ? undefined : findHttpWaiver(run.target, run.allowHttp);
  const isBlocked = judgment.blockedBy !== undefined;
  const crashes = crashesOf(transcript);
  const notices = [
    ...(run.proxy === undefined ? [] : [`Requests went through the proxy ${run.proxy}.`]),
    ...(suite.peer === 'sandbox' ? describeVersionChange(transcript.exchanges) : []),
    ...describeCrashes(suite.peer, crashes, judgment.blockedBy),
    ...suite.areas.flatMap((area) => area.notices?.(transcript, { isBlocked }) ?? []),
    ...describeSelection(suite, judgment, run),
    ...describeLater(judgment, options),
  ];
  const requirements = [...judgment.requirements].map(([id, result]) =>
    rowOf(suite, id, result, { transcript, options }),
  );
  const blockedBy = judgment.blockedBy && blockedByOf(judgment.blockedBy);
  return {
    verdict: judgment.verdict,
    exitCode: judgment.exitCode,
    kitVersion: run.kitVersion,
    suite: run.suite,
    ...(requirementSet !== undefined && { requirementSet }),
    target: run.target,
    seed: run.seed,
    startedAt: run.startedAt,
    endedAt,
    ...(suite.peer === 'sandbox' && findAgentVersion(transcript.exchanges)),
    ...(blockedBy && { blockedBy }),
    counts: { ...judgment.counts },
    coverage: coverageOf(requirements),
    ...(run.areas.includes('voice') && callsOf(transcript)),
    observedBehavior: observe(suite, judgment.blockedBy?.before ?? transcript),
    ...triedIn(suite, transcript),
    waived: waiver === undefined ? [] : [waiver],
    ...(notices.length > 0 && { notices }),
    ...crashRows(crashes, itemOf),
    requirements,
    causes: findCauses(suite, transcript, judgment, options).map((cause) =>
      causeOf(suite, cause, transcript),
    ),
    ...(suite.peer === 'sandbox' &&
      createExcerpt(transcript, judgment, [
        ...requirements
          .filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
          .flatMap(({ evidence }) => evidence.map(({ exchange }) => exchange)),
        ...crashes.flatMap(({ suspects }) => suspects.map(({ id }) => id)),
        ...(blockedBy?.evidence.map(({ exchange }) => exchange) ?? []),
      ])),
  };
}

/** Says that the verdict is only about selected requirements, because it looks like any other. */
function describeSelection(
  { requirementIds }: Suite,
  { requirements }: Judgment,
  { areas }: RunRecord,
): string[] {
  const isComplete = [...requirements].every(
    ([id, { verdict }]) => verdict !== 'not_selected' || !areas.includes(areaOf(id)),
  );
  if (isComplete) return [];
  const judged = [...requirements.values()].filter(({ verdict }) => verdict !== 'not_selected');
  return [
    `The verdict covers ${judged.length} of ${formatCount(requirementIds.length, 'requirement')}. The others were not selected.`,
  ];
}

/** Names the requirements that are not met, but don't count because they were added later. */
function describeLater(
  { requirements }: Judgment,
  { requirementSet }: Pick<JudgeOptions, 'requirementSet'>,
): string[] {
  const ids = [...requirements].flatMap(([id, { verdict }]) =>
    verdict === 'note' && isAddedLater(id, { requirementSet }) ? [id] : [],
  );
  if (ids.length === 0 || !requirementSet) return [];
  return [
    `Not met, but added after the requirement set ${requirementSet.name}, so they don't count: ${ids.join(', ')}.`,
  ];
}

/** Returns a cause with its example. The exchange is the recorded one, without any change. */
function causeOf(
  suite: Suite,
  { example, ...cause }: FoundCause,
  transcript: Transcript,
): CheckReport['causes'][number] {
  const exchange = transcript.exchanges.find(({ id }) => id === example?.finding.exchange);
  if (!example || !exchange) return cause;
  const fields = fieldsOf(suite, example.id, example.finding, transcript);
  return { ...cause, example: { requirement: example.id, ...fields, exchange: itemOf(exchange) } };
}

function blockedByOf({ id, message, cure, evidence, suspects = [] }: BlockingCause): BlockedBy {
  const shown = new Set([...(evidence ? [evidence] : []), ...suspects]);
  return { id, message, cure, evidence: [...shown].slice(0, EVIDENCE_MAX).map(itemOf) };
}

function observe({ areas }: Suite, transcript: Transcript): CheckReport['observedBehavior'] {
  return Object.assign({}, ...areas.map((area) => area.observe(transcript))) as Record<
    string,
    string
  >;
}

/** Lists what the requests of a run contained, of the areas that generate them. */
function triedIn({ areas }: Suite, transcript: Transcript): Pick<CheckReport, 'tried'> {
  const tried = areas.flatMap(({ name, listTried }) => {
    const found = listTried?.(transcript);
    return found && transcript.run.areas.includes(name) ? [{ area: name, ...found }] : [];
  });
  if (tried.every(({ texts }) => texts.length === 0)) return {};
  return {
    tried: {
      texts: tried.flatMap(({ area, texts }) => texts.map((row) => ({ area, ...row }))),
      largestAcceptedBytes: Object.fromEntries(
        tried.flatMap(({ area, largestBytes }) =>
          largestBytes === undefined ? [] : [[area, largestBytes]],
        ),
      ),
    },
  };
}

function rowOf(
  suite: Suite,
  id: RequirementId,
  result: RequirementResult,
  { transcript, options }: { transcript: Transcript; options: JudgeOptions },
): RequirementVerdict {
  const { level, section, statements, rule } = requirementOf(suite, id);
  const since = sinceOf(id);
  return {
    id,
    area: areaOf(id),
    level,
    section,
    statements: [...statements],
    verdict: result.verdict,
    rule,
    ...(since !== undefined && { since }),
    ...(isAddedLater(id, options) && { addedLater: true }),
    ...('reason' in result ? { reason: result.reason } : {}),
    ...('remedy' in result ? { remedy: result.remedy } : {}),
    ...findingFields(suite, id, result, transcript),
    evidence: 'evidence' in result ? evidenceOf(suite, result, transcript) : [],
  };
}

function findingFields(
  suite: Suite,
  id: RequirementId,
  result: RequirementResult,
  transcript: Transcript,
): Partial<RequirementVerdict> {
  if (!('findings' in result)) return {};
  const { findings } = result;
  return { ...fieldsOf(suite, id, findings[0], transcript), findings: findings.length };
}

/** Returns what a report says about a finding. */
function fieldsOf(
  suite: Suite,
  id: RequirementId,
  { exchange: number, expected, received, pointer, hint }: Finding,
  transcript: Transcript,
): Pick<CauseExample, 'expected' | 'received' | 'pointer' | 'message' | 'hint' | 'curl'> {
  const exchange = transcript.exchanges.find(({ id }) => id === number);
  const message = exchange && suite.peer !== 'client' ? findWholeMessage(exchange) : undefined;
  return {
    expected,
    received,
    pointer,
    ...(message !== undefined && { message }),
    ...(hint !== undefined && { hint }),
    // Repeating a request of the client would prove nothing.
    ...(exchange && suite.peer !== 'client'
      ? { curl: reproduceCommand(suite, id, exchange, transcript.run) }
      : {}),
  };
}

/** Returns a shell command that shows the finding again. */
function reproduceCommand(
  suite: Suite,
  id: RequirementId,
  exchange: Exchange,
  run: RunRecord,
): string {
  return exchange.endpoint === 'voice' && requirementOf(suite, id).inMedia
    ? callCommand(exchange, run)
    : requestCommand(exchange, run.target, run.voiceUrl, run.headerNames);
}

/** Lists the exchanges that show the fault, or all that support a pass, up to the limit. */
function evidenceOf(
  { peer }: Suite,
  result: Extract<RequirementResult, { evidence: unknown }>,
  { exchanges }: Transcript,
): EvidenceItem[] {
  // A finding about a client may name another request than the judged one, such as its retry.
  const showable = peer === 'client' ? exchanges : result.evidence;
  const byId = new Map(showable.map((exchange) => [exchange.id, exchange]));
  const ids =
    'findings' in result
      ? result.findings.map(({ exchange }) => exchange)
      : result.evidence.map(({ id }) => id);
  const shown = [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
  // A finding about the run as a whole may name an exchange that is not evidence.
  const listed = shown.length > 0 ? shown : result.evidence;
  return listed.slice(0, EVIDENCE_MAX).map(itemOf);
}

function itemOf(exchange: Exchange): EvidenceItem {
  const { method, path, headers } = exchange.request;
  const traceId = isUnsent(exchange) ? undefined : traceIdOf(headers[TRACEPARENT]);
  return {
    exchange: exchange.id,
    step: exchange.step,
    request: `${method} ${path}`,
    outcome: describeOutcome(exchange),
    ...(traceId !== undefined && { traceId }),
  };
}
