/** The part of a run that a report contains, so that its requests can be sent again. */
import type { CheckReport, ExchangeRecord } from '../../src/contract/index.ts';
import type { Judgment } from '../engine/judge/judge.ts';
import type { Exchange, Transcript } from '../engine/transcript/transcript.ts';
import { isVoice } from '../engine/transcript/call-messages.ts';
import { repetitionOf } from '../engine/transcript/repetitions.ts';
import { findSuspectedDeletions } from './companions.ts';
import { findPreparations } from './preparation.ts';

export type ResendableExchange = NonNullable<CheckReport['resendable']>['exchanges'][number];

/** The longest body of a response in a report, and the bytes of all requests in a report. */
const RESPONSE_LENGTH_MAX = 16_384;
const REQUESTS_BYTES_MAX = 1_048_576;
const START_LENGTH = 200;

/** Returns the verdicts that are based on an exchange. */
export function findVerdicts(
  exchange: Exchange,
  { requirements }: Pick<Judgment, 'requirements'>,
  exchanges: readonly Exchange[],
): Pick<ResendableExchange, 'judgedBy' | 'breaks' | 'companions'> {
  const { id } = exchange;
  const judged = [...requirements].filter(
    ([, result]) => 'evidence' in result && result.evidence.some((each) => each.id === id),
  );
  const broken = [...requirements].filter(
    ([, result]) =>
      (result.verdict === 'fail' || result.verdict === 'warn') &&
      result.findings.some(({ exchange, isNote }) => exchange === id && !isNote),
  );
  const cited = broken.flatMap(([, result]) =>
    'findings' in result
      ? result.findings
          .filter((finding) => finding.exchange === id)
          .flatMap(({ others = [] }) => others)
      : [],
  );
  const suspected = broken.length > 0 ? findSuspectedDeletions(exchange, exchanges) : [];
  const companions = new Set([...cited, ...suspected.map((other) => other.id)]);
  return {
    judgedBy: judged.map(([requirement]) => requirement),
    breaks: broken.map(([requirement]) => requirement),
    ...(companions.size > 0 && { companions: [...companions].sort((a, b) => a - b) }),
  };
}

/** Returns the exchanges with these numbers, and those that they depend on, for a report. */
export function createExcerpt(
  { run, exchanges }: Transcript,
  judgment: Judgment,
  ids: Iterable<number>,
): Pick<CheckReport, 'resendable'> {
  const byId = new Map(exchanges.map((exchange) => [exchange.id, exchange]));
  const kept = new Set<Exchange>();
  for (const id of ids) {
    const exchange = byId.get(id);
    if (!exchange || isVoice(exchange)) continue;
    const related = [
      byId.get(exchange.control ?? 0),
      byId.get(exchange.repeats ?? 0),
      repetitionOf(exchange, { exchanges }),
      ...(findVerdicts(exchange, judgment, exchanges).companions ?? []).map((each) =>
        byId.get(each),
      ),
    ].filter((each) => each !== undefined);
    for (const each of [exchange, ...related]) {
      kept.add(each);
      for (const { exchange: earlier } of findPreparations(each, exchanges)) kept.add(earlier);
    }
  }
  if (kept.size === 0) return {};
  let bytesLeft = REQUESTS_BYTES_MAX;
  const rows = [...kept]
    .sort((a, b) => a.id - b.id)
    .map((exchange) => {
      const bytes = Buffer.byteLength(exchange.request.bodyBase64 ?? exchange.request.body ?? '');
      const isCut = bytes > bytesLeft;
      if (!isCut) bytesLeft -= bytes;
      return {
        exchange: shortenBodies(exchange, isCut),
        ...findVerdicts(exchange, judgment, exchanges),
      };
    });
  return { resendable: { run, exchanges: rows } };
}

function shortenBodies(
  { json: _json, sent: _sent, call: _call, request, response, ...rest }: Exchange,
  isRequestCut: boolean,
): ExchangeRecord {
  return {
    ...rest,
    request: isRequestCut ? cutRequest(request) : request,
    ...(response && { response: cutResponse(response) }),
  };
}

function cutRequest({
  body = '',
  bodyBase64,
  ...head
}: ExchangeRecord['request']): ExchangeRecord['request'] {
  const bytes =
    bodyBase64 === undefined ? Buffer.byteLength(body) : Buffer.byteLength(bodyBase64, 'base64');
  return { ...head, body: body.slice(0, START_LENGTH), bodyBytes: head.bodyBytes ?? bytes };
}

type Response = NonNullable<ExchangeRecord['response']>;

function cutResponse({ body, bodyBase64, ...head }: Response): Response {
  if (body.length <= RESPONSE_LENGTH_MAX) {
    return { ...head, body, ...(bodyBase64 !== undefined && { bodyBase64 }) };
  }
  return { ...head, body: body.slice(0, START_LENGTH), bodyBytes: Buffer.byteLength(body) };
}
