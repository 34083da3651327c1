import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Conversation } from './dialogue.ts';
import { StartError } from './errors.ts';
import { told } from './script-issue.ts';

const patternLengthMax = 200;
const charactersMatchedMax = 2_000;
const rulesMax = 1_000;

const pattern = z
  .string()
  .max(patternLengthMax)
  .refine(isPattern, { message: 'a regular expression' });

const object = z.record(z.string(), z.unknown());

const rule = z.strictObject({
  /** All that is given must hold; a rule without conditions always holds. */
  when: z
    .strictObject({
      /** Part of the last user message, whatever its case. */
      contains: z.string().min(1).optional(),
      /** Pattern found in the last user message, whatever its case. */
      regex: pattern.optional(),
      /** Number of the user's turn, counted from 1. */
      turn: z.int().min(1).optional(),
      /** Keys of the request's metadata and the values they must have. */
      metadata: object.optional(),
    })
    .default({}),
  /** How many requests the rule answers before it is passed over; for good when left out. */
  times: z.int().min(1).optional(),
  reply: z.strictObject({
    content: z.string(),
    tool_calls: z
      .array(z.strictObject({ name: z.string().min(1), arguments: object, result: object }))
      .default([]),
    evaluation_metadata: object.default({}),
    /** Milliseconds to wait before answering. */
    delay_ms: z.int().min(0).max(600_000).default(0),
  }),
});

const script = z.strictObject({ rules: z.array(rule).max(rulesMax) });

/** Scripted replies, as a fixture file has them. */
export type Script = z.infer<typeof script>;

/** One scripted reply. */
export type ScriptedReply = Script['rules'][number]['reply'];

/**
 * Reads a fixture file of scripted replies.
 * @throws StartError that names the file and what is wrong with it.
 */
export function readScript(path: string): Script {
  let text: string;
  let value: unknown;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new StartError(`can't read the script ${path}: ${why}`, { cause: error });
  }
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new StartError(`the script ${path} is not JSON`, { cause: error });
  }
  const parsed = script.safeParse(value);
  if (!parsed.success) {
    throw new StartError(`the script ${path} ${told(value, parsed.error.issues)}`);
  }
  return parsed.data;
}

/** The rules of a script and how often each has answered. */
export interface Prompter {
  /** The reply of the first rule that holds; undefined when the agent has to think for itself. */
  replyTo(conversation: Conversation): ScriptedReply | undefined;
  /** Makes every rule answer as often as at the start. */
  reset(): void;
}

/** Plays a script. `times` apart, a reply depends on the conversation alone. */
export function prompter(script: Script): Prompter {
  const rules = script.rules.map((rule) => ({
    ...rule,
    regex: rule.when.regex === undefined ? undefined : new RegExp(rule.when.regex, 'i'),
    contains: rule.when.contains?.toLowerCase(),
    answered: 0,
  }));
  return {
    replyTo(conversation) {
      const said = conversation.said.slice(0, charactersMatchedMax);
      const lowered = said.toLowerCase();
      const found = rules.find(
        ({ when, regex, contains, times = Infinity, answered }) =>
          answered < times &&
          (contains === undefined || lowered.includes(contains)) &&
          (regex === undefined || regex.test(said)) &&
          (when.turn === undefined || when.turn === conversation.turn) &&
          Object.entries(when.metadata ?? {}).every(([key, value]) =>
            isDeepStrictEqual(conversation.metadata?.[key], value),
          ),
      );
      if (found) found.answered += 1;
      return found?.reply;
    },
    reset() {
      for (const rule of rules) rule.answered = 0;
    },
  };
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
