import { isLoopbackUrl } from '../../../src/platform/loopback.ts';
import type { Check } from './check.ts';

const isHttps = (target: string): boolean => URL.parse(target)?.protocol === 'https:';

/** Returns why a target may use plain HTTP; undefined if it uses HTTPS or must do so. */
export function findHttpWaiver(target: string, allowHttp: boolean): string | undefined {
  if (isHttps(target)) return undefined;
  if (isLoopbackUrl(target)) return 'plain HTTP on loopback';
  return allowHttp ? 'plain HTTP by --allow-http' : undefined;
}

/** Requires HTTPS (spec 4.5) except on loopback and with --allow-http. */
export function checkHttps(): Check {
  return {
    evidence: ({ run, exchanges }) =>
      findHttpWaiver(run.target, run.allowHttp) ? [] : exchanges.filter(({ response }) => response),
    judge: ([first], { run }) =>
      first && !isHttps(run.target)
        ? [
            {
              exchange: first.id,
              pointer: '',
              expected: 'an https:// address',
              received: run.target,
              hint: 'In the private network of a CI run, waive this with --allow-http.',
            },
          ]
        : [],
    unjudged: ({ run }) => {
      const reason = findHttpWaiver(run.target, run.allowHttp);
      return reason
        ? { verdict: 'not_applicable', reason: `Waived: ${reason}.` }
        : { verdict: 'blocked', reason: 'No request got a response.' };
    },
  };
}
