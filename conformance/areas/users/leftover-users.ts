import { formatList } from '../../../src/report-kit/format.ts';
import { type Exchange, isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { pathUserId, sentUserId } from './user-id.ts';

/** Returns the creations of users that the run did not delete. */
export const findLeftoverUsers = ({ exchanges }: Pick<Transcript, 'exchanges'>): Exchange[] =>
  exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'create' &&
      isAccepted(exchange) &&
      !exchanges.some(
        (other) =>
          other.endpoint === 'delete' &&
          isAccepted(other) &&
          other.id > exchange.id &&
          pathUserId(other) === sentUserId(exchange),
      ),
  );

/** The most users that a notice names. */
const USERS_MAX = 10;

/** Names the users that a run which was interrupted left in the sandbox. */
export function describeLeftoverUsers(transcript: Pick<Transcript, 'exchanges' | 'run'>): string[] {
  if (transcript.run.interrupted !== true) return [];
  const ids = [...new Set(findLeftoverUsers(transcript).map((each) => String(sentUserId(each))))];
  if (ids.length === 0) return [];
  return [`Users that were created in the sandbox and not deleted: ${formatList(ids, USERS_MAX)}.`];
}
