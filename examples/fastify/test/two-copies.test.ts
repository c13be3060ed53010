import { testTwoCopies } from '../../run/test/support/two-copies.ts';

testTwoCopies({ name: 'fastify', args: ['--conditions=@leasehold/source', 'src/server.ts'] });
