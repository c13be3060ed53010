export type { ActorContext, ActorOptions, ActorProtocols, AnyActors } from './actor.ts';
export type { ActorHome, ActorHomeOptions } from './actor-home.ts';
export { actorHome } from './create.ts';
