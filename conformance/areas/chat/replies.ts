/** Replies: what they show, the requirements about their fields, and how a distortion edits them. */
import { explainNoValidResponse, unjudgedAs } from '../../engine/checks/check.ts';
import { isObjectFrom } from '../../engine/checks/shape.ts';
import { type Edit, editAccepted } from '../../engine/mutants/combinators.ts';
import type { DistortionEntry } from '../../engine/requirement.ts';
import { fieldsOf } from '../fields.ts';

/** Whether a request was accepted with a JSON object. */
export const isReply = isObjectFrom('chat');

export const noReply = explainNoValidResponse('chat');
export const noReplyHasField = unjudgedAs('not_applicable', 'No reply has this field.');

const fields = {
  endpoint: 'chat',
  message: 'ChatResponse',
  noun: 'reply',
} as const;

/** Writes the requirement of a field that a reply may have. */
export const optionalField = fieldsOf(fields);

/** Writes the requirement of a field that is required wherever the object around it is present. */
export const requiredField = fieldsOf({
  ...fields,
  probes: ['chat/forms'],
  unjudged: (transcript) =>
    transcript.exchanges.some(isReply)
      ? { verdict: 'blocked', reason: 'The field that contains it is missing.' }
      : noReply(transcript),
});

/** The pointer to the text of a reply. */
export const CONTENT = '/choices/0/message/content';

/** Edits every reply. */
export const replies = (description: string, ...edits: Edit[]): DistortionEntry => ({
  description,
  transform: editAccepted('chat', ...edits),
});
