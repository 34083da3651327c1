import type { AgentReply } from './agent-reply.ts';

/** How a turn ended, after the user has said its line. */
export type TurnEnd = Replied | HungUp | Interrupted;

/** The agent replied, and waits for the user. */
export interface Replied {
  kind: 'replied';
  reply: AgentReply;
}

/** The agent hung up after its reply, or instead of replying; then there is no reply. */
export interface HungUp {
  kind: 'hung_up';
  reply: AgentReply | undefined;
}

/** The user has said a line over the reply. Its turn is next: `resume` waits for the reply to it. */
export interface Interrupted {
  kind: 'interrupted';
  reply: AgentReply;
  line: string;
  /** Why the user says the line. */
  reason: string;
}

/** How the turn of an interruption ended. */
export type ResumedTurnEnd = TurnEnd & {
  /** What was said of the interrupted reply; undefined if the agent sends no such extension. */
  spokenBefore: string | undefined;
};

/** Returns the end of a turn where the agent hung up. A reply without text does not count. */
export const hungUpAfter = (reply: AgentReply): HungUp => ({
  kind: 'hung_up',
  reply: reply.content === '' ? undefined : reply,
});
