import type { FastifyRequest } from 'fastify';
import { brief } from '../../contract/index.ts';
import { RequestError } from '../domain/errors.ts';
import type { OwnerStore } from '../store/store.ts';

/** Whom a request to `/__admin` is about. */
export interface Owners {
  /** The owner that the query names, or the default one. @throws RequestError `not_found`. */
  find(request: FastifyRequest): Promise<string>;
  /** The same, but makes the owner when there is none of that name. */
  findOrCreate(request: FastifyRequest): Promise<string>;
  /** The owner of that name, made when there is none. */
  ensure(name: string): Promise<string>;
  /** Name of the owner that the query names, or of the default one. */
  nameIn(request: FastifyRequest): string;
}

/** Finds owners by name; `defaultName` is the owner of the development key. */
export function createOwners(owners: OwnerStore, defaultName: string): Owners {
  const nameIn = ({ url }: FastifyRequest): string => {
    const mark = url.indexOf('?');
    const names = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)).getAll('owner');
    if (names.length > 1) throw new RequestError('bad_request', 'owner is given more than once');
    const [name = defaultName] = names;
    if (/^[^\r\n]{1,200}$/.test(name)) return name;
    throw new RequestError('bad_request', 'owner must be a line of 1 to 200 characters');
  };
  return {
    nameIn,
    async find(request) {
      const name = nameIn(request);
      const id = await owners.findId(name);
      if (id !== undefined) return id;
      const cure = 'POST /__admin/keys with it makes one';
      throw new RequestError('not_found', `there is no owner ${brief(name)}; ${cure}`);
    },
    findOrCreate: (request) => owners.ensure(nameIn(request)),
    ensure: (name) => owners.ensure(name),
  };
}
