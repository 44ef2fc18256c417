// The list of the RPCs about endpoints.
import type { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { Endpoints } from './endpoints.ts';

@injectable()
export class EndpointRpcs {
  constructor(@inject(Endpoints) private readonly endpoints: Endpoints) {}

  handlers(): ServiceImplementation<typeof EndpointService> {
    return {
      listEndpoints: (request) => this.endpoints.list(request),
      createEndpoint: (request) => this.endpoints.create(request),
      changeEndpoint: (request) => this.endpoints.change(request),
      deleteEndpoint: (request) => this.endpoints.remove(request),
      rotateEndpoint: (request) => this.endpoints.rotate(request),
      getEndpointTargets: (request) => this.endpoints.targets(request),
      getEndpointEvents: (request) => this.endpoints.events(request),
    };
  }
}
