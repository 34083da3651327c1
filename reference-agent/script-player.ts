import { isDeepStrictEqual } from 'node:util';
import type { AgentScript, ScriptReply } from '../src/contract/index.ts';
import { matchWithin } from '../src/platform/pattern-match.ts';
import type { Conversation } from './dialogue.ts';
import { RequestError } from './errors.ts';

/** Further characters of a message are not compared with the rules. */
const CHARACTERS_MATCHED_MAX = 2_000;

/** Time limit of the pattern of a rule, because some patterns backtrack almost forever. */
const MATCH_MS_MAX = 100;

/** Plays the rules of a script. */
export interface ScriptPlayer {
  /**
   * Returns the reply of the first rule that applies; undefined if no rule applies.
   * @throws {RequestError} when the pattern of a rule takes too long.
   */
  replyTo(conversation: Conversation): ScriptReply | undefined;
  /** Resets the `times` of every rule. */
  reset(): void;
}

/** Creates a player. Apart from `times`, a reply depends on the conversation only. */
export function createScriptPlayer(script: AgentScript): ScriptPlayer {
  const rules = script.rules.map((rule, index) => ({
    ...rule,
    index,
    contains: rule.when?.contains?.toLowerCase(),
    replyCount: 0,
  }));
  return {
    replyTo(conversation) {
      const userText = conversation.userText.slice(0, CHARACTERS_MATCHED_MAX);
      const lowerCaseText = userText.toLowerCase();
      const rule = rules.find(
        ({ when = {}, index, contains, times = Infinity, replyCount }) =>
          replyCount < times &&
          (contains === undefined || lowerCaseText.includes(contains)) &&
          (when.turn === undefined || when.turn === conversation.turn) &&
          Object.entries(when.metadata ?? {}).every(([key, value]) =>
            isDeepStrictEqual(conversation.metadata?.[key], value),
          ) &&
          (when.regex === undefined || matches(when.regex, userText, index)),
      );
      if (rule) rule.replyCount += 1;
      return rule?.reply;
    },
    reset() {
      for (const rule of rules) rule.replyCount = 0;
    },
  };
}

/** @throws {RequestError} when the match takes too long. */
function matches(regex: string, text: string, ruleIndex: number): boolean {
  const result = matchWithin({ pattern: regex, flags: 'i', texts: [text] }, MATCH_MS_MAX);
  if (result.kind === 'too_slow') {
    throw new RequestError(
      'server_error',
      `The regex of /rules/${ruleIndex} in the script took longer than ${MATCH_MS_MAX} ms. ` +
        'Use a simpler one, for example without nested repetitions such as (a+)+.',
    );
  }
  return result.kind === 'found';
}
