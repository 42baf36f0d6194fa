using System;
using System.Reflection;

/// <summary>Runs the programs that are named, in one process.</summary>
public static class Samples
{
    public static void Main(string[] args)
    {
        foreach (var name in args)
        {
            Console.WriteLine("--- " + name);
            Type.GetType(name).GetMethod("Main").Invoke(null, new object[0]);
        }
    }
}
