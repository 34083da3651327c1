/** What the replies of the agent show, and the builders of the requirements about their fields. */
import { explainNoValidResponse, unjudgedAs } from '../../engine/checks/check.ts';
import { isObjectFrom } from '../../engine/checks/shape.ts';
import { fieldsOf } from '../fields.ts';

/** Whether a request was accepted with a JSON object. */
export const isReply = isObjectFrom('chat');

export const noReply = explainNoValidResponse('chat');
export const noReplyHasField = unjudgedAs('not_applicable', 'No reply has this field.');

const replies = {
  endpoint: 'chat',
  message: 'ChatResponse',
  noun: 'reply',
  reason: 'The service expects this type; it drops another value or ends the simulation.',
} as const;

/** Writes the requirement of a field that a reply may have. */
export const optionalField = fieldsOf(replies);

/** Writes the requirement of a field that is required wherever the object around it is present. */
export const requiredField = fieldsOf({
  ...replies,
  probes: ['chat/forms'],
  unjudged: (transcript) =>
    transcript.exchanges.some(isReply)
      ? { verdict: 'blocked', reason: 'The field that contains it is missing.' }
      : noReply(transcript),
});
