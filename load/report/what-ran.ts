import type { LoadReport } from '../../src/contract/index.ts';

/** Whether anything was sent: where not, each row would say the cause again. */
export const hasRun = ({ streams, voice }: LoadReport): boolean =>
  streams.length > 0 || voice !== undefined;

/** What was to be sent, and for how long: "100 requests/s and 20 calls for 60 s". */
export function loadWords({ plan }: Pick<LoadReport, 'plan'>): string {
  const { profile, ratePerSecond, simulatedUsers, calls } = plan;
  const requests =
    profile === 'voice'
      ? []
      : simulatedUsers === undefined
        ? [`${Number(ratePerSecond.toFixed(2))} requests/s`]
        : [`${simulatedUsers} users`];
  const voice = calls === undefined ? [] : [`${calls} ${calls === 1 ? 'call' : 'calls'}`];
  return [...requests, ...voice].join(' and ');
}
