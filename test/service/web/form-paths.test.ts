/** A browser that opens the path of a form, such as after a reload, gets a page. */
import t from 'tap';
import { withService } from '../../support/services/service.ts';
import { parcel } from '../../support/sessions/shop-simulation.ts';

void t.test('the path of a form leads to the page above it, with the owner', async (t) => {
  const { service, admin } = await withService(t);
  const open = async (path: string): Promise<string> => {
    const headers = { accept: 'text/html' };
    const response = await fetch(service.url + path, { headers, redirect: 'manual' });
    return `${response.status} ${response.headers.get('location') ?? ''}`;
  };
  const rows = [
    ['/evals/save', '/evals'],
    ['/evals/try', '/evals'],
    ['/evals/delete?owner=development', '/evals?owner=development'],
    ['/scenarios/run', '/scenarios'],
    ['/scenarios/starters', '/scenarios'],
    ['/scenarios/a%2Fb/save', '/scenarios/a%2Fb'],
    ['/personas/someone/delete', '/personas/someone'],
    ['/personas/someone/voice', '/personas/someone'],
    ['/agents/shop/connection', '/agents/shop'],
    ['/keys/revoke', '/keys'],
    ['/simulation/sim_1/cancel', '/simulation/sim_1'],
    ['/sessions/scenario', '/sessions'],
    ['/conversation/close', '/sessions?kind=open'],
    ['/sign-out', '/'],
  ] as const;
  for (const [path, page] of rows) t.equal(await open(path), `303 ${page}`, path);
  t.equal(await open('/scenarios/nothing'), '404 ', 'an unknown scenario is still unknown');
  await admin('POST /scenarios', { ...parcel, id: 'run' });
  t.equal(await open('/scenarios/run'), '200 ', 'a scenario may have the name of a form');
});
