import { formatList } from '../../../src/report-kit/format.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject } from '../../../src/platform/json.ts';
import { findOwnMessage } from '../../engine/transcript/own-message.ts';
import {
  isAccepted,
  isRefused,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isDuplicate } from '../users/requests.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** How parsers and validators say that they do not know a field. */
const UNKNOWN_FIELD =
  /\b(unknown|unrecogni[sz]ed|unexpected|extra|additional|no such) (field|key|propert|attribute|parameter|argument|input|member)|\bnot allowed|\bshould not exist/i;

/** Where they name the field: in quotes, or as a path in the body. */
const FIELD_NAME = /(["'`])(.+?)\1|\bbody\.([\w.]+)|\bproperty (\w+)/g;

/** The most fields to list. */
const NAMED_MAX = 3;

/** Recognizes a sandbox that refuses requests with fields that it does not know. */
export function findUnknownFields({ run, exchanges }: Transcript): Diagnosis[] {
  const refused = exchanges.filter(isRefusedForField);
  const fields = new Map(refused.map((exchange) => [exchange, findNamedField(exchange)]));
  const isKnownElsewhere = (exchange: Exchange): boolean => {
    const field = fields.get(exchange);
    return field !== undefined && exchanges.some((other) => isAcceptedWith(field, exchange, other));
  };
  const seen = nonEmpty(refused.filter((exchange) => !isKnownElsewhere(exchange)));
  if (!seen) return [];
  const names = seen.flatMap((exchange) => fields.get(exchange)?.name ?? []);
  if (names.length === 0) return [];
  const example = findExample(seen);
  const named = [...new Set(names)].map((name) => `\`${toPrintable(name, 40)}\``);
  const isGo = /\bjson: unknown field/.test(findOwnMessage(example) ?? '');
  return [
    {
      seen,
      fault: `unknown fields are refused (${formatList(named, NAMED_MAX)}): ${example.response?.status} with ${quoteBody(example)} (${describeSeen(seen)})`,
      cure: `Accept all fields of the interface, and any keys in free-form objects such as metadata${isGo ? ': in Go, decode without DisallowUnknownFields' : ''}`,
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Returns whether a request should not get a 400, and gets a 4xx that calls one of its fields unknown. */
const isRefusedForField = (exchange: Exchange): boolean =>
  (exchange.intent === 'valid' || isDuplicate(exchange)) &&
  isRefused(exchange) &&
  UNKNOWN_FIELD.test(findOwnMessage(exchange) ?? '');

/** A field of a request body, and its place with `*` for the index of an array. */
interface Field {
  name: string;
  place: string;
}

/** Returns the field that a refusal names. Some messages go on with the names of the known fields. */
function findNamedField(exchange: Exchange): Field | undefined {
  const fields = sentFieldsOf(exchange);
  const message = findOwnMessage(exchange) ?? '';
  for (const [, , quoted, path, property] of message.matchAll(FIELD_NAME)) {
    const words = quoted ?? path ?? property ?? '';
    const name = words.slice(words.lastIndexOf('.') + 1);
    const field = fields.find((each) => each.name === words || each.name === name);
    if (field) return field;
  }
  return undefined;
}

/** Returns whether another request of the route was accepted with the same field at the same place. */
const isAcceptedWith = (field: Field, { endpoint }: Exchange, other: Exchange): boolean =>
  other.endpoint === endpoint &&
  isAccepted(other) &&
  sentFieldsOf(other).some(({ place }) => place === field.place);

const sentFieldsOf = computeOnce(({ sent }: Exchange): readonly Field[] => listFields(sent));

function listFields(value: unknown, parent = ''): Field[] {
  if (Array.isArray(value)) return value.flatMap((item) => listFields(item, `${parent}/*`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const place = `${parent}/${name}`;
    return [{ name, place }, ...listFields(item, place)];
  });
}
