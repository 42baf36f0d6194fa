// C# on .NET Framework 4.6, Mono, or .NET 6 or newer; no packages needed. In ASP.NET the raw body is Request.Body.
//   WEBHOOK_SECRET=… PORT=3000 mono ReceiveWebhook.exe
using System;
using System.IO;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;

public static class ReceiveWebhook
{
    private const long ToleranceSeconds = 300;
    private const int BodyBytesMax = 1048576;
    private static readonly string Secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
    private static readonly string EventsFolder = Environment.GetEnvironmentVariable("EVENTS_FOLDER") ?? "webhook-events";

    private static bool IsGenuine(string timestamp, byte[] rawBody, string signature)
    {
        if (timestamp == null || signature == null || !Regex.IsMatch(timestamp, @"\A[0-9]{1,12}\z"))
        {
            return false;
        }
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) > ToleranceSeconds)
        {
            return false;
        }
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(Secret)))
        {
            var prefix = Encoding.UTF8.GetBytes(timestamp + ".");
            hmac.TransformBlock(prefix, 0, prefix.Length, null, 0);
            hmac.TransformFinalBlock(rawBody, 0, rawBody.Length);
            var expected = BitConverter.ToString(hmac.Hash).Replace("-", "").ToLowerInvariant();
            // In constant time; on .NET 6 or newer CryptographicOperations.FixedTimeEquals does the same.
            var difference = expected.Length ^ signature.Length;
            for (var i = 0; i < expected.Length && i < signature.Length; i++)
            {
                difference |= expected[i] ^ signature[i];
            }
            return difference == 0;
        }
    }

    /// <summary>The bytes as received: a parsed and re-serialised body has another signature. Null when there are too many.</summary>
    private static byte[] ReadBody(Stream stream)
    {
        var body = new MemoryStream();
        var buffer = new byte[16384];
        for (var read = stream.Read(buffer, 0, buffer.Length); read > 0; read = stream.Read(buffer, 0, buffer.Length))
        {
            body.Write(buffer, 0, read);
            if (body.Length > BodyBytesMax)
            {
                return null;
            }
        }
        return body.ToArray();
    }

    /// <summary>On .NET 6 or newer read the event with System.Text.Json.</summary>
    private static string Field(string pattern, string json)
    {
        var found = Regex.Match(json, pattern);
        if (!found.Success)
        {
            throw new FormatException("an event without " + pattern);
        }
        return found.Groups[1].Value;
    }

    private static string IdOf(string json)
    {
        return Field("\"id\":\\s*\"(evt_\\w+)\"", json);
    }

    private static string TypeOf(string json)
    {
        return Field("\"type\":\\s*\"([\\w.]+)\"", json);
    }

    /// <summary>
    /// Keeps the event, once. Here it is a file, in your server a row of a table whose key is the id. Returns whether it is
    /// new. An exception means that it cannot be kept: then it must not be acknowledged.
    /// </summary>
    private static bool Store(string id, byte[] rawBody)
    {
        var file = Path.Combine(EventsFolder, id);
        if (File.Exists(file + ".waiting") || File.Exists(file + ".done"))
        {
            return false;
        }
        // Under another name until it is whole: the worker must not read half an event.
        File.WriteAllBytes(file + ".new", rawBody);
        File.Move(file + ".new", file + ".waiting");
        return true;
    }

    /// <summary>Does the work for what is stored, after the reply, and after a restart for what was left.</summary>
    private static void Work()
    {
        foreach (var file in Directory.GetFiles(EventsFolder, "*.waiting"))
        {
            var json = File.ReadAllText(file, Encoding.UTF8);
            // Your work stands here. It comes twice when the program ends before the rename.
            Console.WriteLine("worked on " + TypeOf(json) + " " + IdOf(json));
            File.Move(file, Path.ChangeExtension(file, "done"));
        }
    }

    private static void WorkForEver()
    {
        while (true)
        {
            try
            {
                Work();
            }
            catch (Exception error)
            {
                Console.Error.WriteLine(error.Message);
            }
            Thread.Sleep(1000);
        }
    }

    private static void Receive(HttpListenerContext context)
    {
        var rawBody = ReadBody(context.Request.InputStream);
        if (rawBody == null)
        {
            Answer(context, 413);
            return;
        }
        var headers = context.Request.Headers;
        if (!IsGenuine(headers["X-Webhook-Timestamp"], rawBody, headers["X-Webhook-Signature"]))
        {
            Console.WriteLine("refused: wrong signature, or a timestamp more than 5 minutes off");
            Answer(context, 401);
            return;
        }
        var body = Encoding.UTF8.GetString(rawBody);
        // Delivery is at least once. The id in the body is signed, the one in the header is not.
        var id = IdOf(body);
        var isNew = Store(id, rawBody);
        // It is kept, so it may be acknowledged. The worker does the rest.
        Answer(context, 200);
        Console.WriteLine(isNew ? "received " + TypeOf(body) + " " + id : "ignored " + id + ": received before");
    }

    private static void Answer(HttpListenerContext context, int status)
    {
        context.Response.StatusCode = status;
        context.Response.Close();
    }

    private static void AnswerFailure(HttpListenerContext context)
    {
        try
        {
            Answer(context, 500);
        }
        catch (Exception)
        {
            // Whoever hung up must not end the program.
            context.Response.Abort();
        }
    }

    public static int Main()
    {
        if (string.IsNullOrEmpty(Secret))
        {
            Console.Error.WriteLine("usage: WEBHOOK_SECRET=... PORT=3000 mono ReceiveWebhook.exe");
            return 2;
        }
        Directory.CreateDirectory(EventsFolder);
        new Thread(WorkForEver) { IsBackground = true }.Start();
        var port = Environment.GetEnvironmentVariable("PORT") ?? "3000";
        using (var listener = new HttpListener())
        {
            listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
            listener.Start();
            Console.WriteLine("listening on http://127.0.0.1:" + port + "/webhooks");
            while (true)
            {
                var context = listener.GetContext();
                try
                {
                    Receive(context);
                }
                catch (Exception error)
                {
                    Console.Error.WriteLine(error.Message);
                    // It is not kept: the delivery is made again.
                    AnswerFailure(context);
                }
            }
        }
    }
}
