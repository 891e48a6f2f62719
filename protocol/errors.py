"""The root of all errors that turnwire raises on purpose."""


class TurnwireError(Exception):
    """Something is wrong that was foreseen; the text says whose fault, where, and what to do.

    Those that are a ValueError as well are raised where a value of a configuration or a command is checked.

        adapter.acp.files.FileRefused
        adapter.acp.prompts.TooManyPrompts
        adapter.acp.terminals.TerminalRefused
        adapter.attachments.AttachmentRefused
        adapter.hooks.programs.HookFailed
        adapter.hooks.settings.HookError
        adapter.mcp.host.McpError
        adapter.options.CommandError
        adapter.permissions.answers.InvalidAnswer
        adapter.permissions.rules.RuleError
        adapter.process.cli.ProgramNotFound
        adapter.process.environment.EnvironmentRefused
        adapter.process.transport.ProcessGone
        adapter.session.agent.RequestFailed
            adapter.acp.client.AgentError
            adapter.acp.handshake.LoginNeeded
        adapter.session.agent.RequestTimeout
        adapter.session.executor.AnswerRefused
        adapter.workspace.changes.UnknownFile
        adapter.workspace.repository.GitFailed
        fleet.errors.NameTaken
        hub.delivery.subscription.LogUnreadable
        hub.delivery.subscription.SinkClosed
        hub.host.CommandRefused
        hub.hub.CertificateError
        hub.principals.BadPrincipal
        hub.server.access.AccessError
        hub.server.access.WrongToken
        hub.server.http.BadCursor
        journal.base.JournalError
            journal.base.JournalUnavailable
                journal.base.JournalInUse
        protocol.claude.encode.EncodeError
        runner.client.RunError
        runner.family.RunFailed
        runner.output.OutputLost
        scripted_agent.acp.connection.RpcError
        scripted_agent.acp.turn.TurnStops
        scripted_agent.host.BadInput
        scripted_agent.loading.ScriptError
        scripted_agent.recording.RecordingError
        scripted_agent.session.TurnEnds
        sidecar.cli.prompt.PromptError
        sidecar.config.agents.AgentNotFoundError
        sidecar.config.secrecy.HandingFailed
        sidecar.config.settings.ConfigurationError
        sidecar.filters.translate.InputError
        sidecar.library.index.LibraryError
        sidecar.listening.PortError
        sidecar.prices.PricesError
        sidecar.principals.file.TokensUnusable
        sidecar.push.endpoints.EndpointRefused
        sidecar.push.keys.KeyRefused
        sidecar.qr.NoCode
        sidecar.run.StartError
            sidecar.acp.command.NoHub
        sidecar.stdio.arguments.UsageError
        sidecar.webhooks.message.BadSecret
        tracing.export.wanted.TracingError
        tracing.recordings.recorded.RecordingError
    """
