import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { formatValue, resolvePointer } from '../src/contract/index.ts';
import { StartError } from '../src/http-kit/errors.ts';
import { errorMessage } from '../src/platform/error-origin.ts';
import { formatPath } from '../src/platform/format-path.ts';
import { toPointer } from '../src/platform/json-pointer.ts';

const PATTERN_LENGTH_MAX = 200;
const RULES_MAX = 1_000;

const pattern = z
  .string()
  .max(PATTERN_LENGTH_MAX)
  .refine(isPattern, { message: 'a regular expression' });

/** A script as in a script file: everything with a default can be left out. */
export interface Script {
  rules: ScriptRule[];
}

/** A reply, and when to send it. The first rule that applies sends its reply. */
export interface ScriptRule {
  /** All of these conditions must hold; a rule without conditions always applies. */
  when?: ScriptConditions | undefined;
  /** How many requests the rule replies to (default: unlimited). */
  times?: number | undefined;
  reply: ScriptReply;
}

/** The conditions of a rule. */
export interface ScriptConditions {
  /** Text that the latest user message contains, ignoring case. */
  contains?: string | undefined;
  /** Pattern that the latest user message matches, ignoring case. */
  regex?: string | undefined;
  /** Number of the user's turn, starting at 1. */
  turn?: number | undefined;
  /** Keys and values that the metadata of the request contains. */
  metadata?: Record<string, unknown> | undefined;
}

/** What the agent replies. */
export interface ScriptReply {
  content: string;
  tool_calls?: ScriptToolCall[] | undefined;
  evaluation_metadata?: Record<string, unknown> | undefined;
  /** Milliseconds to wait before replying (default: 0). */
  delay_ms?: number | undefined;
}

/** A tool call that the reply contains, with its result. */
export interface ScriptToolCall {
  name: string;
  arguments: Record<string, unknown>;
  result: Record<string, unknown>;
}

/** The schemas of all fields of an object. */
type Fields<Value> = { [Name in keyof Required<Value>]: z.ZodType<unknown, Value[Name]> };

const object = z.record(z.string(), z.unknown());

const conditions = z.strictObject({
  contains: z.string().min(1).optional(),
  regex: pattern.optional(),
  turn: z.int().min(1).optional(),
  metadata: object.optional(),
} satisfies Fields<ScriptConditions>);

const toolCall = z.strictObject({
  name: z.string().min(1),
  arguments: object,
  result: object,
} satisfies Fields<ScriptToolCall>);

const reply = z.strictObject({
  content: z.string(),
  tool_calls: z.array(toolCall).default([]),
  evaluation_metadata: object.default({}),
  delay_ms: z.int().min(0).max(600_000).default(0),
} satisfies Fields<ScriptReply>);

const rule = z.strictObject({
  when: conditions.default({}),
  times: z.int().min(1).optional(),
  reply,
} satisfies Fields<ScriptRule>);

const script = z.strictObject({
  rules: z.array(rule).max(RULES_MAX),
} satisfies Fields<Script>);

/** A valid script with all defaults. */
export type ResolvedScript = z.output<typeof script>;

/** One scripted reply. */
export type ScriptedReply = z.output<typeof reply>;

/** Reads a script file. @throws StartError with the file and the problem. */
export function readScript(path: string): ResolvedScript {
  let text: string;
  let value: unknown;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const message = `Can't read the script ${path}: ${errorMessage(error)}.`;
    throw new StartError(message, { cause: error });
  }
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new StartError(`The script ${path} is not valid JSON.`, { cause: error });
  }
  const parsed = script.safeParse(value);
  if (!parsed.success) {
    throw new StartError(`The script ${path} ${describeIssues(value, parsed.error.issues)}`);
  }
  return parsed.data;
}

/**
 * Validates a script that code passes as the option `script`, by the rules of script files.
 * @throws {TypeError} about its first problem.
 */
export function resolveScript(caller: string, value: unknown): ResolvedScript {
  const parsed = script.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first, ...more] = parsed.error.issues;
  const rest = more.length === 0 ? '' : ` The script has ${more.length + 1} problems in all.`;
  throw new TypeError(
    `${caller}: ${first ? describeOption(value, first) : 'Invalid script.'}${rest}`,
  );
}

function describeOption(value: unknown, issue: Issue): string {
  const path = formatPath(['script', ...pathOf(issue)]);
  if (isUnknownKey(issue)) return `Unknown key ${path}.`;
  const received = formatValue(resolvePointer(value, pointerOf(issue)));
  return `${path} must be ${describeExpected(issue)}, got ${received}.`;
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** The part of a zod issue that is described. */
interface Issue {
  code: string;
  path: readonly PropertyKey[];
  /** What was expected, for codes that do not define it. */
  message: string;
  expected?: string;
  origin?: string;
  minimum?: number | bigint;
  maximum?: number | bigint;
  keys?: readonly string[];
}

const OTHER_PLACES_SHOWN_MAX = 3;

/** Describes the first issue of a script and lists where the others are. */
function describeIssues(value: unknown, issues: readonly Issue[]): string {
  const [first, ...more] = issues;
  if (!first) return 'is invalid.';
  const place = pointerOf(first);
  const at = place === '' ? '' : ` at ${place}`;
  const problem = isUnknownKey(first)
    ? 'unknown key'
    : `expected ${describeExpected(first)}, got ${formatValue(resolvePointer(value, place))}`;
  const places = more.slice(0, OTHER_PLACES_SHOWN_MAX).map(pointerOf);
  const omitted = more.length - places.length;
  const others = [...new Set(places), ...(omitted > 0 ? [`${omitted} more places`] : [])];
  const rest = more.length === 0 ? '' : ` Other problems are at ${others.join(', ')}.`;
  return `is invalid${at}: ${problem}.${rest}`;
}

const isUnknownKey = ({ code }: Issue): boolean => code === 'unrecognized_keys';

const pathOf = (issue: Issue): readonly PropertyKey[] =>
  isUnknownKey(issue) ? [...issue.path, issue.keys?.[0] ?? ''] : issue.path;

const pointerOf = (issue: Issue): string => toPointer(pathOf(issue));

const TYPE_NAMES: Partial<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'an array',
  string: 'a string',
  int: 'an integer',
  number: 'a number',
};

function describeExpected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_NAMES[issue.expected ?? ''] ?? issue.message;
    case 'too_small':
      return describeBound(issue, `at least ${issue.minimum}`);
    case 'too_big':
      return describeBound(issue, `at most ${issue.maximum}`);
    default:
      return issue.message;
  }
}

const describeBound = ({ origin = '' }: Issue, bound: string): string =>
  ['string', 'array'].includes(origin) ? `a length of ${bound}` : bound;
